import type { Clock } from '../../../src/core/clock.ts'
import { minute, second } from '../../../src/core/units.ts'
import type { Block, LogStore } from '../../store/store.ts'
import type { ReadBlocks } from './block-reader.ts'
import { IngestError } from './errors.ts'
import type { StateTracker } from './writer.ts'

/**
 * When a block is read again, in milliseconds after the previous reading. Nodes that return a part of a block's logs
 * have the rest seconds later, or minutes later after a restart.
 */
const DELAYS = [15 * second, 10 * minute]
/** Only blocks younger than this, in milliseconds, are read again: the node has indexed older ones long ago. */
const RECENT = 10 * minute

interface ReadBlock extends Pick<Block, 'number' | 'hash' | 'logCount'> {
  /** On the monotonic clock. */
  readonly readAt: number
}

interface SecondReadingOptions {
  readonly store: LogStore
  readonly clock: Clock
  readonly tracker: StateTracker
  readonly readBlocks: ReadBlocks
  readonly warn: (line: string) => void
}

export type SecondReading = ReturnType<typeof createSecondReading>

/**
 * Reads recent blocks again and replaces those that have more logs than before. It detects logs that the node left out
 * both in eth_getLogs and in the receipts, and whose addresses and topics occur in other logs of the block: then neither
 * the filter in the header nor any logIndex shows that they are missing.
 */
export const createSecondReading = ({ store, clock, tracker, readBlocks, warn }: SecondReadingOptions) => {
  /** Blocks that wait for each reading, oldest first. */
  const queues: ReadBlock[][] = DELAYS.map(() => [])

  const correct = async (known: ReadBlock, block: Block): Promise<void> => {
    const { first } = tracker.state()
    const isPruned = first === null || known.number < first
    if (isPruned || block.hash !== known.hash || block.logCount <= known.logCount) return
    await store.replace([block])
    tracker.addCorrected()
    warn(
      `block ${block.number} has ${block.logCount} logs, and the node returned ${known.logCount} of them before: it is corrected; clients that read it in between lack them`,
    )
  }

  /** Reads the first of these consecutive blocks; returns them with their new number of logs. */
  const readAgain = async (known: readonly ReadBlock[], signal: AbortSignal): Promise<readonly ReadBlock[]> => {
    const [from, to] = [known[0]?.number ?? 0, known.at(-1)?.number ?? 0]
    const blocks = await readBlocks({ from, to, after: null, final: null, signal })
    const readAt = clock.elapsed()
    const done: ReadBlock[] = []
    for (const [index, block] of blocks.entries()) {
      const before = known[index]
      if (before === undefined) break
      await correct(before, block)
      done.push({ ...before, logCount: Math.max(before.logCount, block.logCount), readAt })
    }
    return done
  }

  return {
    /** Records blocks that were passed to the writer. */
    add: (blocks: readonly Block[]): void => {
      const readAt = clock.elapsed()
      const recent = blocks.filter(({ timestamp }) => clock.now() - timestamp * second < RECENT)
      queues[0]?.push(...recent.map(({ number, hash, logCount }) => ({ number, hash, logCount, readAt })))
    },
    /**
     * Reads the blocks that are due. A reading that fails is not repeated: the next one is the repetition. Called while
     * nothing is being written.
     */
    run: async (signal: AbortSignal): Promise<void> => {
      for (const [index, delay] of DELAYS.entries()) {
        const queue = queues[index] ?? []
        const dueCount = queue.findIndex(({ readAt }) => clock.elapsed() - readAt < delay)
        let due = queue.splice(0, dueCount === -1 ? queue.length : dueCount)
        while (due.length > 0 && !signal.aborted) {
          let done: readonly ReadBlock[] = due
          try {
            done = await readAgain(due, signal)
          } catch (error) {
            if (signal.aborted || !(error instanceof IngestError)) throw error
            tracker.recordFailure(error)
          }
          queues[index + 1]?.push(...done)
          due = due.slice(done.length)
        }
      }
    },
    /** Forgets blocks that were not written, after a failure. */
    forgetUnwritten: (): void => {
      const { indexed } = tracker.state()
      for (const [index, queue] of queues.entries()) {
        queues[index] = queue.filter(({ number }) => indexed !== null && number <= indexed)
      }
    },
  }
}
