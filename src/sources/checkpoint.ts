import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, describeFileError, errorCode, FileError, ifMissing, isNotFound, SourceError } from '../core/errors.ts'
import { atStateFile, readText } from '../core/files.ts'
import { toJson } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import { makeDirectory, writeAtomically } from './durable.ts'
import { type Maintenance, readMaintenance } from '../domain/maintenance.ts'

/** The result of reading a checkpoint: a document, nothing because none was ever saved, or an unreadable file. */
export interface Found {
  readonly state: 'none' | 'unreadable' | 'saved'
  readonly value?: unknown
}

export type Checkpoints = ReturnType<typeof createCheckpoints>
export type Checkpoint = ReturnType<Checkpoints['open']>

/**
 * Small JSON documents that persist over restarts of the agent. `complain` is called once for each period in which the directory is unusable, and once for each document that cannot
 * be parsed; readings continue without them. Writes are asynchronous: a failing disk must not stop the agent that should
 * report it.
 */
export const createCheckpoints = (directory: string, complain: (error: Error) => void) => {
  const writing = new Set<Promise<void>>()
  let isSaved: boolean | null = null
  let isReported = false
  const unreadable = new Set<string>()

  const reportDirectory = (error: Error): void => {
    if (!isReported) complain(error)
    isReported = true
  }

  const write = async (file: string, value: unknown): Promise<void> => {
    try {
      const text = JSON.stringify(toJson(value))
      await atStateFile(file, () =>
        writeAtomically(file, [text], { mode: 0o640 }).catch(async (error: unknown) => {
          if (!isNotFound(error)) throw error
          await makeDirectory(directory, 0o750)
          await writeAtomically(file, [text], { mode: 0o640 })
        }),
      )
      isSaved = true
      isReported = false
    } catch (error) {
      reportDirectory(asError(error))
      isSaved = false
    }
  }

  const read = async (file: string): Promise<Found> => {
    try {
      const value: unknown = JSON.parse(await readText(file, LIMITS.state.fileBytes, atStateFile))
      if (hasLargeNumber(value))
        throw new Error(`it has a number above ${LIMITS.state.number}, which the agent does not write`)
      unreadable.delete(file)
      return { state: 'saved', value }
    } catch (thrown) {
      const error = asError(thrown)
      const code = errorCode(error, '')
      if (code === 'ENOENT') return { state: 'none' }
      if (code !== '' && !(error instanceof FileError)) reportDirectory(error)
      // Report it once: repeated readers report it in their own way.
      else if (!unreadable.has(file))
        complain(new Error(`${file}: ${describeFileError(error).happened}`, { cause: error }))
      unreadable.add(file)
      return { state: 'unreadable' }
    }
  }

  const create = (name: string) => {
    const file = join(directory, `${name}.json`)
    let next: { readonly value: unknown } | undefined
    let written: Promise<void> | undefined
    const drain = async (): Promise<void> => {
      while (next) {
        const { value } = next
        next = undefined
        await write(file, value)
      }
      written = undefined
    }
    return {
      /** Reads the document saved last, once it is written. Never throws: a failure is a result state. */
      read: async (): Promise<Found> => {
        await written
        return read(file)
      },
      /** Saves asynchronously; the newest value wins. Never rejects; resolves when the value, or a newer one, is written. */
      save: (value: unknown): Promise<void> => {
        next = { value }
        if (written) return written
        const started = drain().finally(() => writing.delete(started))
        written = started
        writing.add(started)
        return started
      },
    }
  }

  const opened = new Map<string, ReturnType<typeof create>>()

  return {
    /** Returns the same checkpoint for the same name, so that each document has one writer. */
    open: (name: string) => {
      const checkpoint = opened.get(name) ?? create(name)
      opened.set(name, checkpoint)
      return checkpoint
    },
    /** Whether the last attempt to save succeeded; null before the first. */
    isSaved: () => isSaved,
    flush: async (): Promise<void> => {
      while (writing.size > 0) await Promise.all(writing)
    },
  }
}

const hasLargeNumber = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) > LIMITS.state.number
    : typeof value === 'object' && value !== null && Object.values(value).some(hasLargeNumber)

/**
 * Read-only access to the running agent's checkpoints: nothing is written. Journal cursors are left out, because a
 * one-shot command chooses its own start.
 */
export const createReadOnlyCheckpoints = (directory: string): Checkpoints => {
  // Unreadable checkpoints count as missing: the running agent reports the error.
  const { open } = createCheckpoints(directory, () => undefined)
  return {
    open: (name) => ({
      read: async () => {
        const found = await open(name).read()
        return found.state === 'saved' && !isCursor(found.value) ? found : { state: 'none' }
      },
      save: () => Promise.resolve(),
    }),
    isSaved: () => null,
    flush: () => Promise.resolve(),
  }
}

const isCursor = (value: unknown): boolean => typeof value === 'object' && value !== null && 'cursor' in value

const MAINTENANCE = 'maintenance'

/** The maintenance window that an operator sets: a file, so that it persists over restarts. Throws SourceErrors. */
export const createMaintenanceFile = (directory: string) => {
  const file = join(directory, `${MAINTENANCE}.json`)
  const failing =
    (doing: string) =>
    (error: unknown): never => {
      const cause = asError(error)
      const advice = 'run the command with sudo, or as the user of the agent, and with its configuration'
      throw new SourceError({ doing, happened: cause.message, advice }, { cause })
    }
  return {
    /** Undefined if no window is set. An expired window is returned too. */
    read: async (): Promise<Maintenance | undefined> => {
      const found = await createCheckpoints(directory, failing('read the maintenance window')).open(MAINTENANCE).read()
      return readMaintenance(found.value)
    },
    write: (maintenance: Maintenance): Promise<void> =>
      makeDirectory(directory, 0o750)
        .then(() => writeAtomically(file, [JSON.stringify(maintenance)], { mode: 0o640, isDirectoryOwned: true }))
        .catch(failing('write the maintenance window')),
    /** Removes the window; false if there was none. */
    end: (): Promise<boolean> =>
      rm(file)
        .then(() => true, ifMissing(false))
        .catch(failing('end the maintenance window')),
  }
}
