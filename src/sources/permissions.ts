import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { errorCode, isNotFound } from '../core/file-errors.ts'

/**
 * Whether this user has permission: `none` if the path does not exist, `unknown` if the system returns another error.
 */
export type Permission = 'yes' | 'no' | 'none' | 'unknown'

/** The permissions of this process, as the kernel reports them. Nothing is opened or written. */
export interface Access {
  mayRead(path: string): Promise<Permission>
  mayWrite(path: string): Promise<Permission>
  /** The user of this process. */
  readonly user: User
}

export interface User {
  readonly uid: number
  /** Null if the user has no name. */
  readonly name: string | null
  /** The groups of this process; the user may have been added to more groups since it started. */
  readonly groups: readonly number[]
}

export const createAccess = (): Access => ({
  mayRead: (path) => ask(path, constants.R_OK),
  mayWrite: (path) => ask(path, constants.W_OK),
  user: {
    uid: process.getuid?.() ?? 0,
    name: nameOf(),
    groups: [process.getgid?.() ?? 0, ...(process.getgroups?.() ?? [])],
  },
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

const nameOf = (): string | null => {
  try {
    return userInfo().username
  } catch {
    return null
  }
}
