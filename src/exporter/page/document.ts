import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { SECURITY_HEADERS } from '../web.ts'
import { pageAssets } from './assets.ts'
import { PAGE_POLICY } from './layout.ts'

/** A body in both encodings. */
export interface Body {
  readonly plain: Buffer
  readonly compressed: Buffer
}

const compress = promisify(gzip)

export const bodyOf = async (text: string): Promise<Body> => {
  const plain = Buffer.from(text)
  return { plain, compressed: await compress(plain, { level: 6 }) }
}

export type Add = (path: string, handler: RequestHandler) => void

/** Adds a page at / without parts that change by themselves. */
export const addPage = (add: Add, render: () => Promise<string>): void => {
  add('/', async (request, response) => {
    sendPage(request, response, await bodyOf(await render()))
  })
  addAssets(add)
}

export const addAssets = (add: Add): void => {
  const { style, script } = pageAssets()
  for (const asset of [style, script]) {
    add(asset.path, (request, response) => {
      response.set({ 'Cache-Control': 'public, max-age=31536000, immutable' })
      sendBody(request, response, asset)
    })
  }
}

export const acceptsGzip = (request: Request): boolean => request.acceptsEncodings('gzip') === 'gzip'

export const sendBody = (request: Request, response: Response, body: Body & { readonly type: string }): void => {
  const isCompressed = acceptsGzip(request)
  response.set({ 'Content-Type': body.type, Vary: 'Accept-Encoding' })
  if (isCompressed) response.set('Content-Encoding', 'gzip')
  response.send(isCompressed ? body.compressed : body.plain)
}

const POLICY = 'Content-Security-Policy'

export const sendPage = (request: Request, response: Response, body: Body): void => {
  // An operator's own policy stays.
  if (response.getHeader(POLICY) === SECURITY_HEADERS[POLICY]) response.set(POLICY, PAGE_POLICY)
  sendBody(request, response, { ...body, type: 'text/html; charset=utf-8' })
}
