import type { Request, RequestHandler, Response } from 'express'
import { SECURITY_HEADERS } from '../web.ts'
import { type Body, bodyOf, pageAssets } from './assets.ts'
import { PAGE_POLICY } from './layout.ts'

export type Add = (path: string, handler: RequestHandler) => void

/** Adds a page at / without parts that change by themselves. */
export const addPage = (add: Add, render: () => Promise<string>): void => {
  add('/', async (request, response) => {
    await sendPage(request, response, bodyOf(await render()))
  })
  addAssets(add)
}

export const addAssets = (add: Add): void => {
  const { style, script } = pageAssets()
  for (const asset of [style, script]) {
    add(asset.path, async (request, response) => {
      response.set({ 'Cache-Control': 'public, max-age=31536000, immutable' })
      await sendBody(request, response, asset)
    })
  }
}

export const sendBody = async (
  request: Request,
  response: Response,
  { type, plain, compressed }: Body & { readonly type: string },
): Promise<void> => {
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip'
  const body = isCompressed ? await compressed() : plain
  response.set({ 'Content-Type': type, Vary: 'Accept-Encoding' })
  if (isCompressed) response.set('Content-Encoding', 'gzip')
  response.send(body)
}

const POLICY = 'Content-Security-Policy'

export const sendPage = (request: Request, response: Response, body: Body): Promise<void> => {
  // An operator's own policy stays.
  if (response.getHeader(POLICY) === SECURITY_HEADERS[POLICY]) response.set(POLICY, PAGE_POLICY)
  return sendBody(request, response, { ...body, type: 'text/html; charset=utf-8' })
}
