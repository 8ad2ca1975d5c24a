import { randomBytes } from 'node:crypto'
import { asError } from '../core/outcome.ts'
import { summaryOf } from '../core/errors.ts'
import type { Exec } from './exec.ts'

/** Nothing that is made meanwhile, by us or by a child, is for anybody but its owner. */
export const withPrivateUmask = async <T>(work: () => Promise<T>): Promise<T> => {
  const before = process.umask(0o077)
  try {
    return await work()
  } finally {
    process.umask(before)
  }
}

/**
 * From now on neither this process nor a child leaves its memory in a core dump. The limit is 1 byte and
 * not 0: with 1 the kernel does not start a handler behind a pipe either (core(5), fs/coredump.c), which
 * would note the arguments, too. Answers why it could not be done, or null.
 */
export const leaveNoCore = async (exec: Exec, signal: AbortSignal): Promise<string | null> => {
  const args = ['--pid', `${process.pid}`, '--core=1:1']
  try {
    await exec.run({ command: 'prlimit', args }, signal)
    return null
  } catch (error) {
    signal.throwIfAborted()
    return summaryOf(asError(error))
  }
}

/** A folder in memory in which only root can change anything (hier(7)); null where we are not root. */
export const folderOfRoot = (): string | null => (process.getuid?.() === 0 ? '/run' : null)

/** What this run's files have in their names: its number, and what no run with the same number has. */
export const runMark = (): string => `${process.pid}-${randomBytes(4).toString('hex')}`
