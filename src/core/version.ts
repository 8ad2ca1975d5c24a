import { readFileSync } from 'node:fs'

const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const isObject = typeof manifest === 'object' && manifest !== null

/** The version of this agent, from its package.json. */
export const version = isObject && 'version' in manifest && typeof manifest.version === 'string' ? manifest.version : ''
/** The commit it was built from; empty if the release does not record it. */
export const revision =
  isObject && 'revision' in manifest && typeof manifest.revision === 'string' ? manifest.revision : ''
