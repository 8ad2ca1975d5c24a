import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { packageFile } from '../../core/package.ts'
import { SECURITY_HEADERS } from '../web.ts'

const compress = promisify(gzip)

export type Body = ReturnType<typeof bodyOf>

/** A body in both encodings: it is compressed, once, when a client accepts it. */
export const bodyOf = (content: string | Buffer, level = 6) => {
  const plain = Buffer.from(content)
  let compressed: Promise<Buffer> | undefined
  return { plain, compressed: () => (compressed ??= compress(plain, { level })) }
}

/** A file of the package that is served as it is. */
const read = (name: string) => bodyOf(readFileSync(packageFile(`page/${name}`)), 9)

/** A file that pages load. Its path contains the hash of its content, so that browsers keep it for ever. */
const load = (name: string, type: string) => {
  const body = read(name)
  const hash = createHash('sha256').update(body.plain).digest('hex').slice(0, 16)
  const [stem = '', extension = ''] = name.split('.')
  return { path: `/assets/${stem}-${hash}.${extension}`, type, ...body }
}

const loadAll = () => ({
  style: load('style.css', 'text/css; charset=utf-8'),
  script: load('live.js', 'text/javascript; charset=utf-8'),
  /** The OpenAPI document of the API. */
  openApi: { path: '/api/v1/openapi.json', type: 'application/json; charset=utf-8', ...read('openapi.json') },
})

let loaded: ReturnType<typeof loadAll> | undefined

/** Read once. */
export const pageAssets = () => (loaded ??= loadAll())

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

/** The only sources of a page are the files of this server: nothing inline, nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const POLICY = 'Content-Security-Policy'

export const sendPage = (request: Request, response: Response, body: Body): Promise<void> => {
  // An operator's own policy stays.
  if (response.getHeader(POLICY) === SECURITY_HEADERS[POLICY]) response.set(POLICY, PAGE_POLICY)
  return sendBody(request, response, { ...body, type: 'text/html; charset=utf-8' })
}
