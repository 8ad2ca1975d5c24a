import { type BigIntStats, constants } from 'node:fs'
import { link, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { telling } from './file-errors.ts'
import { codeOf, isMissing } from './missing.ts'

/** What lies at a path, itself and not what a link leads to. */
export interface Lying {
  readonly kind: 'file' | 'folder' | 'other'
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Tells whether two names are of one file. */
  readonly inode: bigint
  /** Under how many names it lies. */
  readonly names: number
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Files that hold secrets, written so that a crash at any moment leaves the old one or the new one. Every
 * step is on the disk before the next begins. Errors are SourceErrors that name paths and no content.
 */
export interface SecretFiles {
  /** Undefined where nothing lies there. */
  look(path: string): Promise<Lying | undefined>
  /** The whole file; an error where it is no regular file or longer than 64 KiB. */
  read(path: string): Promise<Buffer>
  /** The names in a folder; none where there is no such folder. */
  list(folder: string): Promise<readonly string[]>
  /** A new file for its owner alone, read back after it was written. What cannot be completed is taken away. */
  create(path: string, content: string | Uint8Array, owner?: Owner): Promise<void>
  /** Gives a file that is there to the owner, for him alone. */
  claim(path: string, owner: Owner): Promise<void>
  /** The file gets a second name; false where that name is taken. */
  keepAs(path: string, copy: string): Promise<boolean>
  /** The name changes from one file to the other in one step. */
  replace(from: string, to: string): Promise<void>
  /** A folder for its owner alone, with the folders above it. */
  createFolder(path: string): Promise<void>
  /** Files go, and folders that are empty. */
  remove(path: string): Promise<void>
}

const MOST_BYTES = 64 * 1024
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

export const secretFiles: SecretFiles = {
  look: (path) =>
    telling(`look at ${path}`, async () => {
      try {
        return lyingOf(await lstat(path, { bigint: true }))
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    }),

  read: (path) => telling(`read ${path}`, () => readWhole(path)),

  list: (folder) =>
    telling(`look into ${folder}`, async () => {
      try {
        return await readdir(folder)
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    }),

  create: (path, content, owner) =>
    telling(`write ${path}`, async () => {
      const bytes = Buffer.from(content)
      const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
      const handle = await open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, PRIVATE_FILE)
      try {
        try {
          // The umask may have taken rights from us, too.
          await handle.chmod(PRIVATE_FILE)
          if (owner) await handle.chown(owner.uid, owner.gid)
          await handle.writeFile(bytes)
          await handle.sync()
        } finally {
          await handle.close()
        }
        if (!(await readWhole(path)).equals(bytes))
          throw new Error('what was written reads otherwise')
      } catch (error) {
        await rm(path, { force: true }).catch(() => undefined)
        throw error
      } finally {
        bytes.fill(0)
      }
    }),

  claim: (path, owner) =>
    telling(`give ${path} to its owner`, async () => {
      const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
      try {
        await handle.chmod(PRIVATE_FILE)
        const { uid, gid } = await handle.stat()
        if (uid !== owner.uid || gid !== owner.gid) await handle.chown(owner.uid, owner.gid)
        await handle.sync()
      } finally {
        await handle.close()
      }
    }),

  keepAs: (path, copy) =>
    telling(`keep ${path} as ${copy}`, async () => {
      try {
        await link(path, copy)
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false
        throw error
      }
      await syncFolder(dirname(copy))
      return true
    }),

  replace: (from, to) =>
    telling(`put ${from} in the place of ${to}`, async () => {
      await rename(from, to)
      await syncFolder(dirname(to))
    }),

  createFolder: (path) =>
    telling(`make the folder ${path}`, async () => {
      const first = await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER })
      if (first !== undefined) await syncFolder(dirname(first))
    }),

  remove: (path) =>
    telling(`remove ${path}`, async () => {
      const found = await lstat(path).catch(() => undefined)
      if (found === undefined) return
      await (found.isDirectory() ? rmdir(path) : rm(path))
      await syncFolder(dirname(path))
    }),
}

const lyingOf = (facts: BigIntStats): Lying => ({
  kind: facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : 'other',
  mode: Number(facts.mode) & 0o7777,
  uid: Number(facts.uid),
  gid: Number(facts.gid),
  inode: facts.ino,
  names: Number(facts.nlink),
})

const readWhole = async (path: string): Promise<Buffer> => {
  // Not blocking: a pipe in the file's place would hold us for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const facts = await handle.stat()
    if (!facts.isFile()) throw new Error('it is no file')
    if (facts.size > MOST_BYTES) throw new Error('it is far too long for a key')
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** A name is on the disk when its folder is. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
