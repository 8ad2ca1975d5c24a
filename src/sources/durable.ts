import { access, chmod, constants, copyFile, link, mkdir, open, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeFileError, errorCode, ifMissing, isNotFound, SourceError } from '../core/errors.ts'
import { openRegular, withFile } from '../core/files.ts'

const PRIVATE_FOLDER = 0o700
const USUAL_FOLDER = 0o755

/** Syncs a directory: a new file name is on disk only when its directory is. */
export const syncFolder = (folder: string): Promise<void> =>
  withFile(open(folder, constants.O_RDONLY), async (handle) => {
    await handle.sync().catch((error: unknown) => {
      // Some file systems of USB sticks and networks do not support it.
      if (errorCode(error) !== 'EINVAL') throw error
    })
  })

/** Creates a directory accessible only by its owner; missing parents get the usual mode, whatever the umask. */
export const makeFolder = async (path: string): Promise<void> => {
  await makeMissing(path, async (missing) => {
    await mkdir(missing, { mode: PRIVATE_FOLDER })
    if (missing !== path) await chmod(missing, USUAL_FOLDER)
    await syncFolder(dirname(missing))
  })
}

/** Creates a directory and its missing parents with the same mode. */
export const makeDirectory = (path: string, mode: number): Promise<void> =>
  makeMissing(path, (missing) => mkdir(missing, { mode }))

/**
 * Creates a directory after its missing parents; does nothing if it exists. Not `recursive: true`: Node 20 retries
 * forever on a file system that cannot create directories, such as /proc.
 */
const makeMissing = async (path: string, make: (path: string) => Promise<void>): Promise<void> => {
  try {
    await make(path)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    if (!isNotFound(error) || dirname(path) === path) throw error
    await makeMissing(dirname(path), make)
    await make(path)
  }
}

/** Creates a hard link, or a copy if hard links are not supported. Throws EEXIST if the name is taken. */
export const linkOrCopy = async (path: string, other: string): Promise<void> => {
  try {
    await link(path, other)
  } catch (error) {
    if (!KNOWS_NO_LINKS.has(errorCode(error))) throw error
    await copyFile(path, other, constants.COPYFILE_EXCL)
    await withFile(open(other, constants.O_RDONLY), (handle) => handle.sync())
  }
}

/** Errors of vfat and others without hard links; Linux returns EPERM. */
const KNOWS_NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** A file that is written in steps. It gets its final name only when it is complete. */
export type PartialFile = Awaited<ReturnType<typeof openPartialFile>>

/**
 * Checks that the file can be created. Throws a SourceError if its directory is missing or not writable, or if it is a
 * directory.
 */
export const checkWritable = async (file: string): Promise<void> => {
  const directory = `${dirname(file)}/`
  try {
    await access(directory, constants.W_OK)
    if ((await stat(file)).isDirectory()) throw Object.assign(new Error(file), { code: 'EISDIR' })
  } catch (error) {
    if (isNotFound(error) && (await exists(directory))) return
    failing('write', file)(error)
  }
}

export const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

/** The path of the file until it is complete. */
export const partialPath = (file: string): string => `${file}.partial`

/** The length of the partial file in bytes; undefined if there is none. Throws a SourceError. */
export const partialBytes = async (file: string): Promise<number | undefined> => {
  const partial = partialPath(file)
  return (await stat(partial).catch(ifMissing(undefined)).catch(failing('look at', partial)))?.size
}

/** The first `bytes` bytes of the partial file, or what there is of them, in chunks. Throws a SourceError. */
export async function* readPartial(
  file: string,
  { bytes, signal }: { readonly bytes: number; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return
  const partial = partialPath(file)
  try {
    const handle = await openRegular(partial)
    const chunks: AsyncIterable<Buffer> = handle.createReadStream({ end: bytes - 1, signal })
    yield* chunks
  } catch (error) {
    failing('read', partial)(error)
  }
}

/**
 * Opens the partial file and continues after `from` bytes; later content is unconfirmed and is removed. All functions
 * throw a SourceError.
 */
export const openPartialFile = async (file: string, from = 0) => {
  const partial = partialPath(file)
  const doing = <T>(work: () => Promise<T>): Promise<T> => work().catch(failing('write', partial))
  const flags = constants.O_WRONLY | (from === 0 ? constants.O_CREAT : 0)
  const handle = await doing(() => openRegular(partial, flags, 0o666))
  await doing(() => handle.truncate(from))
  let position = from
  return {
    append: (text: string): Promise<void> =>
      doing(async () => {
        const bytes = Buffer.from(text)
        for (let sent = 0; sent < bytes.length;) {
          const { bytesWritten } = await handle.write(bytes, sent, bytes.length - sent, position + sent)
          sent += bytesWritten
        }
        position += bytes.length
      }),
    /** Syncs the file to disk and returns its length in bytes. */
    sync: (): Promise<number> =>
      doing(async () => {
        await handle.sync()
        return position
      }),
    /** Closes and removes the partial file. */
    discard: (): Promise<void> =>
      doing(async () => {
        await handle.close()
        await unlink(partial)
      }),
    /** Syncs the file and renames it to its final name, replacing an existing file. */
    finish: (): Promise<void> =>
      doing(async () => {
        await handle.sync()
        await handle.close()
        await rename(partial, file)
        await syncFolder(dirname(file))
      }),
    /** Does nothing after `finish`. */
    close: (): Promise<void> => doing(() => handle.close()),
  }
}

interface AtomicWrite {
  readonly mode: number
  /** Also survives a power failure. */
  readonly isSynced?: boolean
  /** If this process is root, the file gets the owner of its directory. */
  readonly isDirectoryOwned?: boolean
}

/**
 * Replaces a file atomically: a reader sees the old or the new file. It is written next to the old one, as a new file:
 * in a directory of another user, root follows no link there, and changes the owner of no other file.
 */
export const writeAtomically = async (
  file: string,
  parts: readonly (string | Uint8Array)[],
  { mode, isSynced = false, isDirectoryOwned = false }: AtomicWrite,
): Promise<void> => {
  const next = `${file}.new`
  try {
    await withFile(openNew(next, mode), async (handle) => {
      for (const part of parts) await handle.writeFile(part)
      if (isDirectoryOwned && process.getuid?.() === 0) {
        const { uid, gid } = await stat(dirname(file))
        await handle.chown(uid, gid)
      }
      if (isSynced) await handle.sync()
    })
    await rename(next, file)
    if (isSynced) await syncFolder(dirname(file))
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Opens a new file. One that a killed process left behind is removed: rarely, and `rm` is slow. */
const openNew = (path: string, mode: number) =>
  open(path, 'wx', mode).catch(async (error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
    await rm(path, { force: true })
    return open(path, 'wx', mode)
  })

/** The same for a file of the user that must survive a power failure. Throws a SourceError. */
export const replaceFile = (file: string, parts: readonly Uint8Array[]): Promise<void> =>
  writeAtomically(file, parts, { mode: 0o600, isSynced: true }).catch(failing('write', file))

export const removeFile = (file: string): Promise<void> => rm(file, { force: true }).catch(failing('remove', file))

/** The content of a file; undefined if it does not exist. Throws a SourceError. */
export const readWhole = (file: string): Promise<Uint8Array | undefined> =>
  // Convert the Buffer: its `slice` differs from that of Uint8Array.
  withFile(openRegular(file), async (handle) => new Uint8Array(await handle.readFile()))
    .catch(ifMissing(undefined))
    .catch(failing('read', file))

const failing =
  (verb: string, file: string) =>
  (error: unknown): never => {
    const advice = 'check that the directory exists and is writable, and that the disk is not full'
    throw new SourceError({ doing: `${verb} ${file}`, advice, ...describeFileError(error) }, { cause: error })
  }
