import type { Probe } from './real-parts.ts'

const UNPRIVILEGED_UID = 65_534
const isRoot = process.getuid?.() === 0

/** For tests that change the owner of files, or compare root with another user. */
export const probeRoot = (): Probe => (isRoot ? { version: '' } : { missing: 'not root' })

/** Runs as an ordinary user: root ignores the permissions of files. */
export const asOrdinaryUser = async <T>(act: () => Promise<T>): Promise<T> => {
  if (!isRoot) return act()
  process.seteuid?.(UNPRIVILEGED_UID)
  try {
    return await act()
  } finally {
    process.seteuid?.(0)
  }
}
