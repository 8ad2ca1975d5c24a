import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Builds what many tests start, in a fresh clone. Afterwards `npm run check` builds it again after each change. */
export const setup = (): void => {
  const built = { build: 'dist/main.js', 'build:modules': '.cache/modules/src/main.js' }
  for (const [script, file] of Object.entries(built))
    if (!existsSync(file)) execFileSync('npm', ['run', script], { stdio: 'inherit' })
}
