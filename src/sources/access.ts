import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { codeOf, isMissing } from './missing.ts'

/** Whether this user may: `none` where there is no such thing, `unknown` where the system does not tell. */
export type Permit = 'yes' | 'no' | 'none' | 'unknown'

/** What this process may do, as the kernel tells it. Nothing is opened, and nothing is written. */
export interface Access {
  mayRead(path: string): Promise<Permit>
  mayWrite(path: string): Promise<Permit>
  /** Who this process is. */
  readonly user: User
}

export interface User {
  readonly uid: number
  /** Null where the system has no name for it. */
  readonly name: string | null
  /** Those that the process has, which may be fewer than the user is in by now. */
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

const ask = async (path: string, mode: number): Promise<Permit> => {
  try {
    await access(path, mode)
    return 'yes'
  } catch (error) {
    if (isMissing(error)) return 'none'
    return ['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error)) ? 'no' : 'unknown'
  }
}

const nameOf = (): string | null => {
  try {
    return userInfo().username
  } catch {
    return null
  }
}
