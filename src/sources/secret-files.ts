import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isOpenToOthers } from '../core/key-places.ts'
import { linkOrCopy, makeFolder, syncFolder } from './durable.ts'
import { telling } from './file-errors.ts'
import { codeOf, isMissing } from './missing.ts'
import { readWhole } from './read-whole.ts'

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
  /** Whether it is a folder, or a link that leads to one. */
  isFolder(path: string): Promise<boolean>
  /** The whole file, of 64 KiB at most. `isNamed`: the operator has named it, and a pipe is well, too. */
  read(path: string, options?: { readonly isNamed: boolean }): Promise<Buffer>
  /** The names in a folder; none where there is no such folder. */
  list(folder: string): Promise<readonly string[]>
  /**
   * A new file for its owner alone, read back after it was written; answers which it is. What cannot be
   * completed is taken away.
   */
  create(path: string, content: string | Uint8Array, owner?: Owner): Promise<bigint>
  /** The file gets a second name, or a copy where the file system knows no links; false where it is taken. */
  keepAs(path: string, copy: string): Promise<boolean>
  /** The name changes in one step from what it named to this file; an error where it names another then. */
  replace(from: string, to: string, inode: bigint): Promise<void>
  /** A folder for its owner alone, with the folders above it. */
  createFolder(path: string): Promise<void>
  /** Files go, and folders that are empty. */
  remove(path: string): Promise<void>
}

const PRIVATE_FILE = 0o600

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

  isFolder: (path) =>
    telling(`look at ${path}`, async () => {
      try {
        return (await stat(path)).isDirectory()
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    }),

  read: (path, options = { isNamed: false }) =>
    telling(`read ${path}`, () => readWhole(path, options)),

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
      const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
      const handle = await open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, PRIVATE_FILE)
      try {
        return await fill({ path, handle, content: Buffer.from(content), owner })
      } catch (error) {
        await rm(path, { force: true }).catch(() => undefined)
        throw error
      }
    }),

  keepAs: (path, copy) =>
    telling(`keep ${path} as ${copy}`, async () => {
      try {
        await linkOrCopy(path, copy)
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false
        throw error
      }
      await syncFolder(dirname(copy))
      return true
    }),

  replace: (from, to, inode) =>
    telling(`put ${from} in the place of ${to}`, async () => {
      await rename(from, to)
      await syncFolder(dirname(to))
      // Who may write to the folder could have put another file under our name.
      if ((await lstat(to, { bigint: true })).ino !== inode) {
        throw new Error('somebody else has changed the file meanwhile')
      }
    }),

  createFolder: (path) => telling(`make the folder ${path}`, () => makeFolder(path)),

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

interface Filling {
  readonly path: string
  readonly handle: FileHandle
  readonly content: Buffer
  readonly owner: Owner | undefined
}

/** Closes the handle, and answers which file it was. */
const fill = async ({ path, handle, content, owner }: Filling): Promise<bigint> => {
  try {
    try {
      await makePrivate(handle)
      if (owner) await give(handle, owner)
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    const read = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      if (!(await read.readFile()).equals(content))
        throw new Error('it reads otherwise than written')
      return (await read.stat({ bigint: true })).ino
    } finally {
      await read.close()
    }
  } finally {
    content.fill(0)
  }
}

/** The umask may have taken rights from us, too. A file system without rights has those of its mount. */
const makePrivate = async (handle: FileHandle): Promise<void> => {
  await handle.chmod(PRIVATE_FILE).catch((error: unknown) => {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP'].includes(codeOf(error))) throw error
  })
  if (!isOpenToOthers((await handle.stat()).mode)) return
  throw new Error(
    'the file system there knows no rights, and others could read it; mount it with umask=077, or export an encrypted copy',
  )
}

const give = async (handle: FileHandle, owner: Owner): Promise<void> => {
  const { uid, gid } = await handle.stat()
  if (uid !== owner.uid || gid !== owner.gid) await handle.chown(owner.uid, owner.gid)
}
