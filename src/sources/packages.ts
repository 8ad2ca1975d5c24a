import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { atFile } from '../core/files.ts'

export type InstalledFiles = ReturnType<typeof createInstalledFiles>

/**
 * What changes when a package or a program is installed again, without a process; null if that is not known. `root`: the
 * directory that has `var/lib/dpkg/status`.
 */
export const createInstalledFiles = ({ root, path }: { readonly root: string; readonly path: string }) => ({
  /** Of the packages that dpkg has installed or holds: it replaces its file at each change. */
  packages: async () => fileVersion(join(root, 'var/lib/dpkg/status')),
  /** Of the package lists of apt, which replaces the files of its directory, and of its preferences. */
  packageLists: async (): Promise<string | null> => {
    const parts = join(root, 'etc/apt/preferences.d')
    const names = await atFile(parts, async () => readdir(parts)).catch(() => [])
    const files = [
      ...APT_FILES.map((file) => join(root, file)),
      ...names.slice(0, MAX_PARTS).map((name) => join(parts, name)),
    ]
    const [lists, ...preferences] = await Promise.all(files.map(fileVersion))
    return lists ? [lists, ...preferences].join(' ') : null
  },
  /** Of the first file of that name on the search path. */
  program: async (name: string): Promise<string | null> => {
    for (const directory of path.split(':')) {
      const found = await fileVersion(join(directory, name))
      if (found !== null) return found
    }
    return null
  },
})

const APT_FILES = ['var/lib/apt/lists', 'etc/apt/preferences']
/** Files of preferences.d that are looked at. */
const MAX_PARTS = 100

/** A text that differs when the file was written or replaced. Null if it does not exist or cannot be read. */
const fileVersion = async (path: string): Promise<string | null> => {
  try {
    const { ino, size, mtimeMs } = await atFile(path, async () => stat(path))
    return `${path} ${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}
