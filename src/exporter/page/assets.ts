import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { packageFile } from '../../core/package.ts'

/** A file that pages load. Its path contains the hash of its content, so that browsers keep it for ever. */
export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
  readonly compressed: Buffer
}

const load = (name: string, type: string): Asset => {
  const body = readFileSync(packageFile(`page/${name}`))
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const [stem = '', extension = ''] = name.split('.')
  return { path: `/assets/${stem}-${hash}.${extension}`, type, body, compressed: gzipSync(body, { level: 9 }) }
}

export interface Assets {
  readonly style: Asset
  readonly script: Asset
}

let loaded: Assets | undefined

/** The style and the script of all pages, read once. */
export const pageAssets = (): Assets =>
  (loaded ??= {
    style: load('style.css', 'text/css; charset=utf-8'),
    script: load('live.js', 'text/javascript; charset=utf-8'),
  })
