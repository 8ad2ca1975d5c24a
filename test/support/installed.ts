import { must } from './programs.ts'

/** One install at a time, and none where the lock file is the one of the last. */
const INSTALL = `cmp -s package-lock.json node_modules/.installed || {
  npm ci --no-audit --no-fund "$@" && cp package-lock.json node_modules/.installed
}`

/** Installs a package of the tests into its own folder, once for each state of its lock file. */
export const installed = async (directory: string, flags: readonly string[] = []): Promise<void> => {
  const script = ['package.json', 'sh', '-euc', INSTALL, 'install', ...flags]
  await must('flock', script, { cwd: directory, timeout: 600_000 })
}
