import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { packageFile } from '../../core/package.ts'

/** A file of the package that is served as it is. */
export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
  readonly compressed: Buffer
}

const read = (name: string): Pick<Asset, 'body' | 'compressed'> => {
  const body = readFileSync(packageFile(`page/${name}`))
  return { body, compressed: gzipSync(body, { level: 9 }) }
}

/** A file that pages load. Its path contains the hash of its content, so that browsers keep it for ever. */
const load = (name: string, type: string): Asset => {
  const { body, compressed } = read(name)
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const [stem = '', extension = ''] = name.split('.')
  return { path: `/assets/${stem}-${hash}.${extension}`, type, body, compressed }
}

export interface Assets {
  readonly style: Asset
  readonly script: Asset
  /** The OpenAPI document of the API. */
  readonly openApi: Asset
}

let loaded: Assets | undefined

/** Read once. */
export const pageAssets = (): Assets =>
  (loaded ??= {
    style: load('style.css', 'text/css; charset=utf-8'),
    script: load('live.js', 'text/javascript; charset=utf-8'),
    openApi: { path: '/api/v1/openapi.json', type: 'application/json; charset=utf-8', ...read('openapi.json') },
  })
