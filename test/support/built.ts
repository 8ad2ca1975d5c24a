import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What dist is built from. */
const SOURCES = ['src', 'query', 'simulator', 'scripts/bundle.mjs', 'test/support/program.ts', 'package-lock.json']

const filesOf = (path: string): readonly string[] =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))

const isOutdated = (built: string): boolean =>
  !existsSync(built) || SOURCES.flatMap(filesOf).some((file) => statSync(file).mtimeMs > statSync(built).mtimeMs)

const build = (script: string): void => {
  execFileSync('npm', ['run', script], { stdio: 'inherit' })
}

/** Builds what tests start: the program after each change of a source, in two seconds; its modules, which scripts read, in a fresh clone. */
export const setup = (): void => {
  if (isOutdated('dist/testing.js')) build('build')
  if (!existsSync('.cache/modules/src/main.js')) build('build:modules')
}
