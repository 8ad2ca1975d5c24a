import { asError } from '../../../core/outcome.ts'
import { type Block, type LogStore, type StoreRange } from '../../store/store.ts'
import { type Keeper } from './retention.ts'
import { type Position } from './source.ts'
import { type Tally } from './tally.ts'

/** Writes blocks while the next ones are read. */
export interface Writer {
  /** What the store ends with; null where it is empty. */
  held(): Promise<Position | null>
  /** Waits for what is being written, and begins with these. Throws what became of those before. */
  begin(blocks: readonly Block[]): Promise<void>
  /** All is written. Throws where it could not be. */
  done(): Promise<void>
  /** Nothing is being written any more, however it ended. */
  settle(): Promise<void>
}

interface WriterOptions {
  readonly store: LogStore
  readonly keeper: Keeper
  readonly tally: Tally
}

export const createWriter = ({ store, keeper, tally }: WriterOptions): Writer => {
  let writing: Promise<Error | null> = Promise.resolve(null)
  let range: StoreRange | null = null

  const write = async (blocks: readonly Block[]): Promise<Error | null> => {
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (first === undefined || last === undefined) return null
    try {
      await store.append(blocks)
      range = { first: range?.first ?? first.number, last: last.number, lastHash: last.hash }
      tally.wrote(blocks)
      tally.holds(range, last.timestamp)
      range = await keeper.tidy(range)
      tally.holds(range, last.timestamp)
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
      tally.holds(range, head?.timestamp ?? null)
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
