import { access, constants, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { describeFileError, isNotFound } from '../core/file-errors.ts'
import { syncFolder } from './durable.ts'

/** A file that is written in steps. It gets its final name only when it is complete. */
export interface PartialFile {
  append(text: string): Promise<void>
  /** Syncs the file to disk and returns its length in bytes. */
  sync(): Promise<number>
  /** Truncates the file to zero bytes. */
  clear(): Promise<void>
  /** Syncs the file and renames it to its final name, replacing an existing file. */
  finish(): Promise<void>
  /** Closes the partial file. Does nothing after `finish`. */
  close(): Promise<void>
}

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
    throw failed('write', file, error)
  }
}

export const exists = async (file: string): Promise<boolean> => {
  try {
    await access(file)
    return true
  } catch {
    return false
  }
}

/** The path of the file until it is complete. */
export const partialPath = (file: string): string => `${file}.partial`

/** The length of the partial file in bytes; undefined if there is none. Throws a SourceError. */
export const partialBytes = async (file: string): Promise<number | undefined> => {
  try {
    return (await stat(partialPath(file))).size
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw failed('look at', partialPath(file), error)
  }
}

/**
 * Opens the partial file and continues after `from` bytes; later content is unconfirmed and is removed. All functions
 * throw a SourceError.
 */
export const openPartialFile = async (file: string, from = 0): Promise<PartialFile> => {
  const partial = partialPath(file)
  const doing = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw failed('write', partial, error)
    }
  }
  const handle = await doing(() => open(partial, from === 0 ? 'w' : 'r+'))
  await doing(() => handle.truncate(from))
  let position = from
  return {
    append: (text) =>
      doing(async () => {
        const bytes = Buffer.from(text)
        for (let sent = 0; sent < bytes.length;) {
          const { bytesWritten } = await handle.write(bytes, sent, bytes.length - sent, position + sent)
          sent += bytesWritten
        }
        position += bytes.length
      }),
    sync: () =>
      doing(async () => {
        await handle.sync()
        return position
      }),
    clear: () =>
      doing(async () => {
        await handle.truncate(0)
        position = 0
      }),
    finish: () =>
      doing(async () => {
        await handle.sync()
        await handle.close()
        await rename(partial, file)
        await syncFolder(dirname(file))
      }),
    close: () => doing(() => handle.close()),
  }
}

/** Replaces a file atomically: a reader sees the old or the new file, also after a power failure. */
export const replaceFile = async (file: string, parts: readonly Uint8Array[]): Promise<void> => {
  const next = `${file}.new`
  try {
    const handle = await open(next, 'w', 0o600)
    try {
      for (const part of parts) await handle.writeFile(part)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(next, file)
    await syncFolder(dirname(file))
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw failed('write', file, error)
  }
}

export const removeFile = async (file: string): Promise<void> => {
  try {
    await rm(file, { force: true })
  } catch (error) {
    throw failed('remove', file, error)
  }
}

/** The content of a file; undefined if it does not exist. Throws a SourceError. */
export const readWhole = async (file: string): Promise<Uint8Array | undefined> => {
  try {
    const handle = await open(file)
    try {
      // Convert the Buffer: its `slice` differs from that of Uint8Array.
      return new Uint8Array(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw failed('read', file, error)
  }
}

const failed = (verb: string, file: string, error: unknown): SourceError =>
  new SourceError(
    {
      doing: `${verb} ${file}`,
      advice: 'check that the directory exists and is writable, and that the disk is not full',
      ...describeFileError(error),
    },
    { cause: error },
  )
