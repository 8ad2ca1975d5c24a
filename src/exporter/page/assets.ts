import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { packageFile } from '../../core/package.ts'

/** A file of the package that is served as it is. */
const read = (name: string) => {
  const body = readFileSync(packageFile(`page/${name}`))
  return { plain: body, compressed: gzipSync(body, { level: 9 }) }
}

/** A file that pages load. Its path contains the hash of its content, so that browsers keep it for ever. */
const load = (name: string, type: string) => {
  const { plain, compressed } = read(name)
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 16)
  const [stem = '', extension = ''] = name.split('.')
  return { path: `/assets/${stem}-${hash}.${extension}`, type, plain, compressed }
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
