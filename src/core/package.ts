import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The nearest folder above this module with a package.json: it is the same for a source, a compiled module and a bundle. */
const findRoot = (directory: string): string =>
  existsSync(join(directory, 'package.json')) ? directory : findRoot(dirname(directory))

const ROOT = findRoot(import.meta.dirname)

/** The path of a file of this package. `path` is relative to its root. */
export const packageFile = (path: string): string => join(ROOT, path)

/** The Debian package brings its own Node.js, next to dist. */
export const isDebianPackage = process.execPath === packageFile('node')

/** The Debian package installs the unit; the page has the step after an installation with npm. */
export const enableAdvice = (unit: string): string => `\`sudo systemctl enable --now ${unit}\` (docs/how-to/host.md)`

const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
const isObject = typeof manifest === 'object' && manifest !== null

/** The version of this agent, from its package.json. */
export const version = isObject && 'version' in manifest && typeof manifest.version === 'string' ? manifest.version : ''
/** Replaced by scripts/bundle.mjs. */
declare const BUILD_REVISION: string | undefined
/** The commit that the bundle was built from; empty outside of a bundle, and if it was built without git. */
export const revision = typeof BUILD_REVISION === 'string' ? BUILD_REVISION : ''
/** Version and commit, for people. */
export const versionText = revision === '' ? version : `${version} (commit ${revision})`
