import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The nearest folder above this module with a package.json: it is the same for a source, a compiled module and a bundle. */
const findRoot = (directory: string): string =>
  existsSync(join(directory, 'package.json')) ? directory : findRoot(dirname(directory))

const ROOT = findRoot(import.meta.dirname)

/** The path of a file of this package. `path` is relative to its root. */
export const packageFile = (path: string): string => join(ROOT, path)

const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
const isObject = typeof manifest === 'object' && manifest !== null

/** The version of this agent, from its package.json. */
export const version = isObject && 'version' in manifest && typeof manifest.version === 'string' ? manifest.version : ''
/** The commit it was built from; empty if the release does not record it. */
export const revision =
  isObject && 'revision' in manifest && typeof manifest.revision === 'string' ? manifest.revision : ''
