import type { Exec } from '../../sources/exec.ts'

/** Whether journalctl can filter by pattern: on some systems it is built without PCRE2. Checked once. */
export const createGrepSupport = (exec: Exec) => {
  let isSupported: boolean | undefined
  return async (signal: AbortSignal): Promise<boolean> => {
    if (isSupported !== undefined) return isSupported
    const program = { command: 'journalctl', args: ['-n', '0', '--grep=.'], answers: [0, 1] }
    const { stderr } = await exec.run(program, signal)
    isSupported = !/pattern matching|PCRE/i.test(stderr)
    return isSupported
  }
}
