import { constants } from 'node:fs'
import { access, readFile, realpath } from 'node:fs/promises'
import { asError, errorCode, isNotFound, summaryOf } from '../core/errors.ts'
import { randomBytes } from 'node:crypto'
import type { Exec } from './exec.ts'

/**
 * Whether this user has permission: `none` if the path does not exist, `unknown` if the system returns another error.
 */
export type Permission = 'yes' | 'no' | 'none' | 'unknown'

/** The permissions of this process, as the kernel reports them. Nothing is opened or written. */
export const createAccess = () => ({
  mayRead: (path: string) => ask(path, constants.R_OK),
  mayWrite: (path: string) => ask(path, constants.W_OK),
  /** The path without symbolic links; null if this user cannot resolve it. */
  resolve: (path: string): Promise<string | null> => realpath(path).catch(() => null),
  isProcessListPublic: () => isProcessListPublic(),
})

const ask = async (path: string, mode: number): Promise<Permission> => {
  try {
    await access(path, mode)
    return 'yes'
  } catch (error) {
    if (isNotFound(error)) return 'none'
    return ['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error)) ? 'no' : 'unknown'
  }
}

/** Runs `work` with umask 077: files created by this process or its children are accessible only by their owner. */
export const withPrivateUmask = async <T>(work: () => Promise<T>): Promise<T> => {
  const before = process.umask(0o077)
  try {
    return await work()
  } finally {
    process.umask(before)
  }
}

/**
 * Disables core dumps for this process and its children. The limit is 1 byte, not 0: with 1 the kernel also does not
 * start a pipe handler (core(5), fs/coredump.c), which could record the arguments. Returns the reason for a failure, or
 * null.
 */
export const disableCoreDumps = async (exec: Exec, signal: AbortSignal): Promise<string | null> => {
  const args = ['--pid', `${process.pid}`, '--core=1:1']
  try {
    await exec.run({ command: 'prlimit', args }, signal)
    return null
  } catch (error) {
    signal.throwIfAborted()
    return summaryOf(asError(error))
  }
}

/** A directory in memory that only root can change (hier(7)); null if this user is not root. */
export const rootOnlyDirectory = (): string | null => (process.getuid?.() === 0 ? '/run' : null)

/** A part of file names that is unique to this run: its process id and random digits. */
export const uniqueRunName = (): string => `${process.pid}-${randomBytes(4).toString('hex')}`

/** Whether other users of the host can read the arguments of child processes; null if unknown. */
export const isProcessListPublic = async (mounts = '/proc/self/mounts'): Promise<boolean | null> => {
  const text = await readFile(mounts, 'utf8').catch(() => undefined)
  const proc = text
    ?.split('\n')
    .map((line) => line.split(' '))
    // Of two mounts on the same directory the last one is visible.
    .findLast(([, place]) => place === '/proc')
  if (proc === undefined) return null
  const hidden = (proc[3] ?? '').split(',').find((option) => option.startsWith('hidepid='))
  // hidepid=1 hides the content of other users' processes, 2 the processes themselves; newer kernels print words.
  return hidden === undefined || ['hidepid=0', 'hidepid=off'].includes(hidden)
}
