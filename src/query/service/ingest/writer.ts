import { asError } from '../../../core/errors.ts'
import { type Block, type LogStore, type StoreRange } from '../../store/store.ts'
import { type RetentionEnforcer } from './retention.ts'
import { type Position } from './block-reader.ts'
import { type StateTracker } from './state.ts'

/** Writes blocks in the background while the next ones are read. */
export interface Writer {
  /** The last block in the store; null if it is empty. */
  held(): Promise<Position | null>
  /** Waits for the previous write and starts writing these blocks. Throws the error of the previous write. */
  begin(blocks: readonly Block[]): Promise<void>
  /** Waits for the current write. Throws its error. */
  done(): Promise<void>
  /** Waits for the current write and ignores its error. */
  settle(): Promise<void>
}

interface WriterOptions {
  readonly store: LogStore
  readonly retention: RetentionEnforcer
  readonly tracker: StateTracker
}

export const createWriter = ({ store, retention, tracker }: WriterOptions): Writer => {
  let writing: Promise<Error | null> = Promise.resolve(null)
  let range: StoreRange | null = null

  const write = async (blocks: readonly Block[]): Promise<Error | null> => {
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (first === undefined || last === undefined) return null
    try {
      await store.append(blocks)
      range = { first: range?.first ?? first.number, last: last.number, lastHash: last.hash }
      tracker.addWritten(blocks)
      tracker.setRange(range, last.timestamp)
      range = await retention.enforce(range)
      tracker.setRange(range, last.timestamp)
      return null
    } catch (error) {
      return asError(error)
    }
  }

  const done = async (): Promise<void> => {
    const error = await writing
    writing = Promise.resolve(null)
    if (error !== null) throw error
  }

  return {
    held: async () => {
      range = await store.range()
      if (range === null) return null
      const [head] = await store.heads([range.last])
      tracker.setRange(range, head?.timestamp ?? null)
      return { number: range.last, hash: range.lastHash }
    },
    begin: async (blocks) => {
      await done()
      writing = write(blocks)
    },
    done,
    settle: async () => {
      await writing
    },
  }
}
