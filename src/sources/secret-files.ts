import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errorCode, ifMissing, throwFileError } from '../core/errors.ts'
import { isOpenToOthers } from '../domain/key-paths.ts'
import { withFile } from '../core/files.ts'
import { linkOrCopy, makeFolder, syncFolder } from './durable.ts'
import { withLock } from './lock.ts'

export type KeyFileInfo = ReturnType<typeof infoOf>

export type Owner = Pick<KeyFileInfo, 'uid' | 'gid'>

export type SecretFiles = ReturnType<typeof createSecretFiles>

interface OpenFolder {
  /** Paths in the directory are taken relative to the open directory; all others as they are. */
  readonly files: SecretFiles
  /** False if the path leads to another directory now: it was moved, or replaced with a link. */
  isInPlace(): Promise<boolean>
  close(): Promise<void>
}

const PRIVATE_FILE = 0o600

/**
 * Files with secrets, written so that after a crash either the old or the new file exists. Every step is synced to disk
 * before the next begins. Errors are SourceErrors that contain paths but no content. `at` is where a path is.
 */
const createSecretFiles = (at: (path: string) => string) => ({
  /** Undefined if the path does not exist. */
  look: (path: string) =>
    withFileErrors(`look at ${path}`, () => lstat(at(path), { bigint: true }).then(infoOf).catch(ifMissing(undefined))),

  /** Whether the path is a directory, or a link to one. */
  isFolder: (path: string) =>
    withFileErrors(
      `look at ${path}`,
      async () => (await stat(at(path)).catch(ifMissing(undefined)))?.isDirectory() ?? false,
    ),

  /** Reads a file of at most 64 KiB. `isNamed`: the operator named it on the command line, so a pipe is allowed. */
  read: (path: string, options = { isNamed: false }) =>
    withFileErrors(`read ${path}`, () => readSmallFile(at(path), options)),

  /** The names in a directory; empty if it does not exist. */
  list: (folder: string): Promise<readonly string[]> =>
    withFileErrors(`list ${folder}`, () => readdir(at(folder)).catch(ifMissing([]))),

  /** Creates a file readable only by its owner, reads it back and returns its inode. An incomplete file is removed. */
  create: (path: string, content: string | Uint8Array, owner?: Owner) =>
    withFileErrors(`write ${path}`, async () => {
      const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
      const handle = await open(at(path), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, PRIVATE_FILE)
      try {
        return await fill(handle, at(path), { content: Buffer.from(content), owner })
      } catch (error) {
        await rm(at(path), { force: true }).catch(() => undefined)
        throw error
      }
    }),

  /** Creates a hard link, or a copy if the file system has no hard links; false if the name is taken. */
  keepAs: (path: string, copy: string) =>
    withFileErrors(`keep ${path} as ${copy}`, async () => {
      try {
        await linkOrCopy(at(path), at(copy))
      } catch (error) {
        if (errorCode(error) === 'EEXIST') return false
        throw error
      }
      await syncFolder(dirname(at(copy)))
      return true
    }),

  /** Renames a file over `to` atomically; throws if the name then refers to another file. */
  replace: (from: string, to: string, inode: bigint) =>
    withFileErrors(`replace ${to} with ${from}`, async () => {
      await rename(at(from), at(to))
      await syncFolder(dirname(at(to)))
      // A process with write access to the directory could have replaced the file.
      if ((await lstat(at(to), { bigint: true })).ino !== inode) {
        throw new Error('another process has changed the file in the meantime')
      }
    }),

  /** Creates a directory accessible only by its owner, and missing parent directories. */
  createFolder: (path: string) => withFileErrors(`create the directory ${path}`, () => makeFolder(path)),

  remove: (path: string) =>
    withFileErrors(`remove ${path}`, async () => {
      const place = at(path)
      const found = await lstat(place).catch(() => undefined)
      if (found === undefined) return
      await (found.isDirectory() ? rmdir(place) : rm(place))
      await syncFolder(dirname(place))
    }),

  /** The path without symbolic links; undefined if it does not exist. */
  resolve: (path: string) => withFileErrors(`look at ${path}`, () => realpath(at(path)).catch(ifMissing(undefined))),

  /** Opens a directory: what is done through it happens there, also if the path leads elsewhere by then. */
  openFolder: (path: string): Promise<OpenFolder> =>
    withFileErrors(`open the directory ${path}`, async () => {
      const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
      const { dev, ino } = await handle.stat({ bigint: true })
      const opened = `/proc/self/fd/${handle.fd}`
      return {
        files: createSecretFiles((one) =>
          one === path ? opened : dirname(one) === path ? `${opened}/${basename(one)}` : at(one),
        ),
        isInPlace: () =>
          withFileErrors(`look at ${path}`, async () => {
            const now = await stat(path, { bigint: true }).catch(ifMissing(undefined))
            return now?.dev === dev && now.ino === ino
          }),
        close: () => handle.close(),
      }
    }),
})

export const secretFiles = createSecretFiles((path) => path)

/** The file at a path. Symbolic links are not followed. */
const infoOf = (facts: BigIntStats) => ({
  kind: facts.isFile() ? ('file' as const) : facts.isDirectory() ? ('folder' as const) : ('other' as const),
  mode: Number(facts.mode) & 0o7777,
  uid: Number(facts.uid),
  gid: Number(facts.gid),
  /** Equal for two names of the same file. */
  inode: facts.ino,
  names: Number(facts.nlink),
})

/** Writes and closes the file, and returns its inode. */
const fill = async (
  handle: FileHandle,
  path: string,
  { content, owner }: { readonly content: Buffer; readonly owner: Owner | undefined },
): Promise<bigint> => {
  try {
    await withFile(handle, async () => {
      await makePrivate(handle)
      if (owner) await changeOwner(handle, owner)
      await handle.writeFile(content)
      await handle.sync()
    })
    return await withFile(open(path, constants.O_RDONLY | constants.O_NOFOLLOW), async (read) => {
      if (!(await read.readFile()).equals(content))
        throw new Error('the content read back differs from the content written')
      return (await read.stat({ bigint: true })).ino
    })
  } finally {
    content.fill(0)
  }
}

/**
 * The umask may have removed the owner's permissions as well. A file system without permissions uses those of its
 * mount.
 */
const makePrivate = async (handle: FileHandle): Promise<void> => {
  await handle.chmod(PRIVATE_FILE).catch((error: unknown) => {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP'].includes(errorCode(error))) throw error
  })
  if (!isOpenToOthers((await handle.stat()).mode)) return
  throw new Error(
    'the file system has no file permissions, and other users could read the file; mount it with umask=077, or export an encrypted copy',
  )
}

const changeOwner = async (handle: FileHandle, owner: Owner): Promise<void> => {
  const { uid, gid } = await handle.stat()
  if (uid !== owner.uid || gid !== owner.gid) await handle.chown(owner.uid, owner.gid)
}

/** Runs `work` and rethrows its error as a SourceError. `doing`: "write /opt/x". */
const withFileErrors = <T>(doing: string, work: () => Promise<T>): Promise<T> => work().catch(throwFileError({ doing }))

const MOST_BYTES = 64 * 1024

/** Reads a small file completely, and a pipe to its end. */
const readSmallFile = async (path: string, { isNamed }: { readonly isNamed: boolean }): Promise<Buffer> => {
  // Non-blocking: opening a pipe in place of a file would block forever.
  const flags = isNamed ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK
  return withFile(open(path, flags), async (handle) => {
    const facts = await handle.stat()
    const isPipe = isNamed && (facts.isFIFO() || facts.isCharacterDevice())
    if (!facts.isFile() && !isPipe) throw new Error('it is not a regular file')
    const buffer = Buffer.alloc(MOST_BYTES + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
    throw new Error('it is longer than 64 KiB, too long for a key file')
  })
}

/** Runs `work` while no other process that uses the key files can lock these directories. */
export const withFoldersLocked = <T>(folders: readonly string[], work: () => Promise<T>): Promise<T> =>
  withLock(
    folders,
    { doing: "lock the node's key files", taken: 'another `chain-agent keys` process is using them' },
    work,
  )
