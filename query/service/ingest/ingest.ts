import { backoff, type Clock } from '../../../src/core/clock.ts'
import { asError, summaryOf } from '../../../src/core/errors.ts'
import { duration } from '../../../src/core/format.ts'
import { minute, second } from '../../../src/core/units.ts'
import { StoreError } from '../../store/errors.ts'
import type { Block, Filter, LogStore, StoreRange } from '../../store/store.ts'
import { createBlockReader, type Position, type ReadBlocks } from './block-reader.ts'
import { createScopeFilter } from './completeness.ts'
import { IngestError } from './errors.ts'
import { type ChainHead, createChainHeadReader, createHeaders } from './headers.ts'
import { createRpc } from './rpc.ts'
import { createStateTracker, createWriter, type Retention, type StateTracker } from './writer.ts'

export interface IngestOptions {
  readonly rpcUrl: string
  readonly store: LogStore
  /** The range of the store at the start. */
  readonly held?: StoreRange | null
  readonly scope: Filter
  /** First block of an empty store; a store with blocks continues after its last. */
  readonly fromBlock: number
  readonly retention: Retention
  readonly clock: Clock
  /** Largest number of blocks per request. */
  readonly maxRange?: number
  /** Interval at which the node is polled at the chain head, in milliseconds. */
  readonly pollEvery?: number
  /** Timeout of one request, in milliseconds. */
  readonly timeout?: number
  /** While the newest block of the node is older than this, in milliseconds, nothing is read; null: no limit. */
  readonly behindAfter?: number | null
  /**
   * Distance behind the newest block at which blocks count as final if the node does not support the tag `finalized`.
   */
  readonly depth?: number
  /** Largest share of time in which a backfill keeps the node busy; 1: without pauses. */
  readonly nodeShare?: number
  /** Receives log messages about fallbacks. */
  readonly notice?: (line: string) => void
  /** Receives log messages about faults that are not detected any more. */
  readonly warn?: (line: string) => void
}

export type Ingest = ReturnType<typeof createIngest>

const FIRST_WAIT = second
const MAX_WAIT = minute
/** Upper limit for Retry-After. */
const MAX_RETRY_AFTER = 5 * minute

/**
 * A block that has been incomplete for this time, in milliseconds, is reported as such. A node that has been restarted or
 * that imports blocks returns their logs within minutes.
 */
const INCOMPLETE_AFTER = 10 * minute

const DEFAULTS = {
  held: null,
  maxRange: 1000,
  pollEvery: second,
  timeout: 30 * second,
  behindAfter: minute,
  depth: 32,
  nodeShare: 0.5,
  notice: (): void => undefined,
  warn: (): void => undefined,
}

/** Copies final blocks from a node to a store, one request at a time. */
export const createIngest = (ingestOptions: IngestOptions) => {
  const options = { ...DEFAULTS, ...ingestOptions }
  const { store, clock, maxRange, pollEvery, nodeShare } = options
  const tracker = createStateTracker(options.held)
  const rpc = createRpc(options)
  const headers = createHeaders(rpc)
  const writer = createWriter({ ...options, tracker })
  const isInScope = createScopeFilter(options.scope)
  const readBlocks = createBlockReader({
    ...options,
    rpc,
    onFault: tracker.recordFailure,
    headers,
    isInScope,
  })
  const readChainHead = createChainHeadReader({ ...options, rpc, headers, chainId: store.chainId })
  // It moves backwards, so it has headers of its own.
  const readAgain = createBlockReader({ rpc, clock, headers: createHeaders(rpc), isInScope, maxRange })
  const secondReading = createSecondReading({ ...options, tracker, readBlocks: readAgain })

  /** Consecutive failures. Blocks that were read count as progress only once they are written. */
  let failures = 0
  let known: ChainHead | null = null
  /** The last block passed to the writer; undefined if it must be read from the store. */
  let after: Position | null | undefined
  /** The height that the node reported first, while the store is empty. */
  let firstHeight: number | null = null

  const currentHead = async (signal: AbortSignal): Promise<ChainHead> => {
    if (known !== null && clock.elapsed() - known.at < HEAD_EVERY) return known
    known = await readChainHead(signal)
    // Without a new height the last one stays, with its time.
    if (known.height !== null) tracker.set({ nodeHeight: known.height, nodeHeightAt: clock.now() })
    return known
  }

  /** Time in which the ingest itself works counts as rest for the node. */
  const startRest = (): (() => number) => {
    const [began, before] = [clock.elapsed(), rpc.busyMs()]
    return () => Math.max(0, (rpc.busyMs() - before) / nodeShare - (clock.elapsed() - began))
  }

  /** Nothing is left to read, and everything is written. Returns the wait. */
  const idle = async (trouble: string | null, ms: number): Promise<number> => {
    await writer.done()
    tracker.set({ phase: trouble === null ? 'tail' : 'waiting', trouble })
    known = null
    failures = 0
    return ms
  }

  /** Reads the next blocks, if there are any, and waits until the previous ones are written. Returns the wait before the next step, in milliseconds. */
  const step = async (signal: AbortSignal): Promise<number> => {
    const remainingRest = startRest()
    const last = after === undefined ? await writer.held() : after
    after = last
    const head = await currentHead(signal)
    if (head.behind !== null) return await idle(head.behind, BEHIND_POLL_EVERY)
    if (head.height === null) return await idle('the node has no final block yet', pollEvery)
    if (last === null && firstHeight === null && options.retention.blocks !== null) {
      firstHeight = head.height
      return await idle('the first height of the node is read once more, because the store begins there', pollEvery)
    }
    // Blocks that would be pruned at once are not read.
    const firstKept = Math.min(head.height, firstHeight ?? head.height) - (options.retention.blocks ?? Infinity) + 1
    const from = last === null ? Math.max(options.fromBlock, firstKept) : last.number + 1
    if (from > head.height) {
      await writer.done()
      await secondReading.run(signal)
      const left = pollEvery - (clock.elapsed() - head.at)
      return await idle(problemOf(last, head.height), Math.max(left, pollEvery * MIN_PAUSE))
    }
    const isTail = head.height - from < TAIL
    const phase = isTail ? 'tail' : 'backfill'
    // An incomplete block remains the status until it is complete.
    if (tracker.state().phase !== 'incomplete') tracker.set({ phase })
    const final = head.hash === null ? null : { number: head.height, hash: head.hash }
    const blocks = await readBlocks({ from, to: head.height, after: last, final, signal })
    await writer.begin(blocks)
    secondReading.add(blocks)
    tracker.set({ phase, trouble: null })
    const newest = blocks.at(-1)
    after = newest === undefined ? last : { number: newest.number, hash: newest.hash }
    return isTail ? 0 : remainingRest()
  }

  /** Blocks written by the last failure. */
  let blocksAtFailure = 0
  /** Since when the block after the last one is incomplete. Other failures in between do not make it complete. */
  let incompleteSince: number | null = null

  const enterWaiting = (error: Error): void => {
    const isIncomplete = error instanceof IngestError && error.kind === 'incomplete'
    if (isIncomplete) incompleteSince ??= clock.elapsed()
    const isLong = incompleteSince !== null && clock.elapsed() - incompleteSince >= INCOMPLETE_AFTER
    if (!isIncomplete || !isLong) {
      tracker.set({ phase: 'waiting' })
      return
    }
    const { indexed } = tracker.state()
    const block = indexed === null ? 'the first block' : `block ${indexed + 1}`
    const trouble = `stopped before ${block}, which the node has returned incomplete for more than ${duration(INCOMPLETE_AFTER)}: ${summaryOf(error)}; it is requested again every minute`
    tracker.set({ phase: 'incomplete', trouble })
  }

  /** Returns the delay before the next attempt, in milliseconds. Throws errors that a retry cannot fix. */
  const recover = async (error: Error): Promise<number> => {
    await writer.settle()
    const { blocks } = tracker.state()
    if (blocks > blocksAtFailure) incompleteSince = null
    failures = blocks > blocksAtFailure ? 1 : failures + 1
    blocksAtFailure = blocks
    headers.clear()
    // The next step continues after the last block in the store.
    known = null
    after = undefined
    secondReading.forgetUnwritten()
    tracker.recordFailure(error)
    if (!isTransient(error)) throw error
    enterWaiting(error)
    const retryAfter = error instanceof IngestError ? (error.wait ?? 0) : 0
    return Math.max(backoff(failures, FIRST_WAIT, MAX_WAIT), Math.min(retryAfter, MAX_RETRY_AFTER))
  }

  const runUntil = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      let wait: number
      try {
        wait = await step(signal)
      } catch (thrown) {
        if (signal.aborted) return
        wait = await recover(asError(thrown))
      }
      if (wait > 0) await clock.sleep(wait, signal)
    }
  }

  return {
    state: tracker.state,
    /** Runs until the signal aborts. Throws on permanent errors: another chain, a replaced final block, a broken store. */
    run: async (signal: AbortSignal): Promise<void> => {
      try {
        await runUntil(signal)
      } finally {
        await writer.settle()
        tracker.set({ phase: 'stopped' })
      }
    },
  }
}

const isTransient = (error: Error): boolean =>
  error instanceof IngestError || (error instanceof StoreError && error.kind === 'unavailable')

/** During a backfill: how often the chain head of the node is read. */
const HEAD_EVERY = 5 * second
/** While the node is behind or syncing: how often it is polled. */
const BEHIND_POLL_EVERY = 15 * second
/** Within this distance of the chain head the phase is tail instead of backfill. */
const TAIL = 100
/** Smallest pause between two polls at the chain head, as a share of the interval: it protects a slow node. */
const MIN_PAUSE = 1 / 4

const problemOf = (last: Position | null, height: number): string | null => {
  if (last === null) return 'the first block to index is not final yet'
  return height < last.number ? "the node's final block is below the last block in the store" : null
}

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

interface SecondReadingOptions extends Pick<Required<IngestOptions>, 'store' | 'clock' | 'warn'> {
  readonly tracker: StateTracker
  readonly readBlocks: ReadBlocks
}

/**
 * Reads recent blocks again and replaces those that have more logs than before. It detects logs that the node left out
 * both in eth_getLogs and in the receipts, and whose addresses and topics occur in other logs of the block: then neither
 * the filter in the header nor any logIndex shows that they are missing.
 */
const createSecondReading = ({ store, clock, tracker, readBlocks, warn }: SecondReadingOptions) => {
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
