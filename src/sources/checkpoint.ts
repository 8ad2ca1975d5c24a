import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isNotFound } from '../core/file-errors.ts'
import { toJson } from '../core/json.ts'
import { asError } from '../core/outcome.ts'
import { makeDirectory } from './durable.ts'

/** The result of reading a checkpoint: a document, nothing because none was ever saved, or an unreadable file. */
export type Found =
  | { readonly state: 'none' }
  | { readonly state: 'unreadable' }
  | { readonly state: 'saved'; readonly value: unknown }

/** A small JSON document that persists over restarts of the agent. */
export interface Checkpoint {
  /** Reads the document saved last, once it is written. Never throws: a failure is a result state. */
  read(): Promise<Found>
  /** Saves asynchronously; the newest value wins. Never throws and never blocks the caller. */
  save(value: unknown): void
}

export interface Checkpoints {
  /** Returns the same checkpoint for the same name, so that each document has one writer. */
  open(name: string): Checkpoint
  /** Waits until all saved values are written. */
  flush(): Promise<void>
}

/**
 * `complain` is called once for each period in which the directory is unusable; readings continue without it. Writes
 * are asynchronous: a failing disk must not stop the agent that should report it.
 */
export const createCheckpoints = (directory: string, complain: (error: Error) => void): Checkpoints => {
  const writing = new Set<Promise<void>>()
  let complained = false
  const unreadable = new Set<string>()

  const write = async (file: string, value: unknown): Promise<void> => {
    try {
      const text = JSON.stringify(toJson(value))
      await replace(file, text).catch(async (error: unknown) => {
        if (!isNotFound(error)) throw error
        await makeDirectory(directory, 0o750)
        await replace(file, text)
      })
      complained = false
    } catch (error) {
      if (!complained) complain(asError(error))
      complained = true
    }
  }

  const read = async (file: string): Promise<Found> => {
    try {
      const value: unknown = JSON.parse(await readFile(file, 'utf8'))
      unreadable.delete(file)
      return { state: 'saved', value }
    } catch (thrown) {
      const error = asError(thrown)
      if ('code' in error && error.code === 'ENOENT') return { state: 'none' }
      // Report it once: repeated readers report it in their own way.
      if (!unreadable.has(file)) complain(error)
      unreadable.add(file)
      return { state: 'unreadable' }
    }
  }

  const create = (name: string): Checkpoint => {
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
      read: async () => {
        await written
        return read(file)
      },
      save: (value) => {
        next = { value }
        if (written) return
        const started = drain().finally(() => writing.delete(started))
        written = started
        writing.add(started)
      },
    }
  }

  const opened = new Map<string, Checkpoint>()
  const open = (name: string): Checkpoint => {
    const checkpoint = opened.get(name) ?? create(name)
    opened.set(name, checkpoint)
    return checkpoint
  }

  return {
    open,
    flush: async () => {
      while (writing.size > 0) await Promise.all(writing)
    },
  }
}

/** Replaces a file atomically: a reader sees the old or the new document. */
const replace = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text, { mode: 0o640 })
  await rename(`${file}.new`, file)
}

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
      save: () => undefined,
    }),
    flush: () => Promise.resolve(),
  }
}

const isCursor = (value: unknown): boolean => typeof value === 'object' && value !== null && 'cursor' in value
