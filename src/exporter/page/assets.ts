import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packageFile } from '../../core/package.ts'

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
