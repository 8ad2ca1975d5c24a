import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { must } from './programs.ts'

/** Installs a package of the tests into its own folder, once for each state of its lock file. */
export const installed = async (
  directory: string,
  flags: readonly string[] = [],
): Promise<void> => {
  const lock = await readFile(join(directory, 'package-lock.json'), 'utf8')
  const mark = join(directory, 'node_modules', '.installed')
  if ((await readFile(mark, 'utf8').catch(() => undefined)) === lock) return
  await must('npm', ['ci', '--no-audit', '--no-fund', ...flags], {
    cwd: directory,
    timeout: 240_000,
  })
  await writeFile(mark, lock)
}
