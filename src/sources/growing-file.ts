import { access, constants, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { accountOf } from '../core/file-errors.ts'
import { syncFolder } from './durable.ts'
import { isMissing } from './missing.ts'

/** A file that comes into being bit by bit: under its own name only once it is whole. */
export interface GrowingFile {
  append(text: string): Promise<void>
  /** Waits until all of it is on the disk; how long it is, in bytes. */
  sync(): Promise<number>
  /** Begins again with nothing. */
  clear(): Promise<void>
  /** Gives it its name, in the place of what had it before. */
  finish(): Promise<void>
  /** Leaves it as it is; nothing after `finish`. */
  close(): Promise<void>
}

/** Whether a file may come into being there. Throws a SourceError where its directory is missing, or it is one. */
export const checkPlace = async (file: string): Promise<void> => {
  const directory = `${dirname(file)}/`
  try {
    await access(directory, constants.W_OK)
    if ((await stat(file)).isDirectory()) throw Object.assign(new Error(file), { code: 'EISDIR' })
  } catch (error) {
    if (isMissing(error) && (await isThere(directory))) return
    throw failed('write', file, error)
  }
}

export const isThere = async (file: string): Promise<boolean> => {
  try {
    await access(file)
    return true
  } catch {
    return false
  }
}

/** Where it lies until it is whole. */
export const partialOf = (file: string): string => `${file}.partial`

/** How much of it there is; undefined where none has been begun. Throws a SourceError. */
export const begunBytes = async (file: string): Promise<number | undefined> => {
  try {
    return (await stat(partialOf(file))).size
  } catch (error) {
    if (isMissing(error)) return undefined
    throw failed('look at', partialOf(file), error)
  }
}

/**
 * Goes on after the first so many bytes; what is behind them was not vouched for, and is cut off.
 * Throws a SourceError, as all of it does.
 */
export const openGrowingFile = async (file: string, from = 0): Promise<GrowingFile> => {
  const partial = partialOf(file)
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
          const { bytesWritten } = await handle.write(
            bytes,
            sent,
            bytes.length - sent,
            position + sent,
          )
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

/** A whole file in the place of the old one: whoever reads sees one of them, also after the power went. */
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

/** Undefined where there is no such file. Throws a SourceError. */
export const readWhole = async (file: string): Promise<Uint8Array | undefined> => {
  try {
    const handle = await open(file)
    try {
      // A Buffer is sliced otherwise than what it says it is.
      return new Uint8Array(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw failed('read', file, error)
  }
}

/** A new name is on the disk when its directory is. */
const failed = (verb: string, file: string, error: unknown): SourceError =>
  new SourceError(
    {
      doing: `${verb} ${file}`,
      advice: 'see that the directory is there and may be written, and that the disk is not full',
      ...accountOf(error),
    },
    { cause: error },
  )
