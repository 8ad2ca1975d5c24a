import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toJson } from '../core/json.ts'
import { asError } from '../core/outcome.ts'
import { makeDirectory } from './durable.ts'
import { isMissing } from './missing.ts'

/** What was found: a document, nothing because nothing was ever saved, or something unreadable. */
export type Found =
  | { readonly state: 'none' }
  | { readonly state: 'unreadable' }
  | { readonly state: 'saved'; readonly value: unknown }

/** What must outlive the agent: one small JSON document a name. */
export interface Checkpoint {
  /** Reads what was saved last, after it is written. Never throws: what cannot be read is told in what is found. */
  read(): Promise<Found>
  /** Saves soon, the newest value winning. Never throws and never holds up the caller. */
  save(value: unknown): void
}

export interface Checkpoints {
  /** The same name gives the same checkpoint, so that each document has one writer. */
  open(name: string): Checkpoint
  /** Waits until everything given to `save` is written. */
  flush(): Promise<void>
}

/**
 * `complain` hears once of each spell in which the directory cannot be used; readings go on without
 * it. Writing is not synchronous on purpose: a dying disk must not stop the agent that should report it.
 */
export const createCheckpoints = (
  directory: string,
  complain: (error: Error) => void,
): Checkpoints => {
  const writing = new Set<Promise<void>>()
  let complained = false
  const unreadable = new Set<string>()

  const write = async (file: string, value: unknown): Promise<void> => {
    try {
      const text = JSON.stringify(toJson(value))
      await replace(file, text).catch(async (error: unknown) => {
        if (!isMissing(error)) throw error
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
      // Once: whoever reads again and again tells it in words of its own.
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

/** A reader gets the old document or the new one, never half of one. */
const replace = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text, { mode: 0o640 })
  await rename(`${file}.new`, file)
}
