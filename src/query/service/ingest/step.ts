import { second } from '../../../core/units.ts'
import type { Position, ReadBlocks } from './block-reader.ts'
import type { ChainHead, ReadChainHead } from './chain-head.ts'
import type { IngestOptions } from './options.ts'
import type { StateTracker } from './state.ts'
import type { NodeTimer } from './transport.ts'
import type { Writer } from './writer.ts'

/** During a backfill: how often the chain head of the node is read. */
const HEAD_EVERY = 5 * second
/** While the node is behind or syncing: how often it is polled. */
const BEHIND_POLL_EVERY = 15 * second
/** Within this distance of the chain head the phase is tail instead of backfill. */
const TAIL = 100
/** Smallest pause between two polls at the chain head, as a share of the interval: it protects a slow node. */
const MIN_PAUSE = 1 / 4

interface StepperDependencies {
  readonly options: Required<IngestOptions>
  readonly tracker: StateTracker
  readonly readChainHead: ReadChainHead
  readonly readBlocks: ReadBlocks
  readonly writer: Writer
  readonly nodeTimer: NodeTimer
}

interface Step {
  /** Delay before the next step, in milliseconds. */
  readonly wait: number
  /** Nothing is left to read, and everything is written. */
  readonly isIdle: boolean
}

/** Runs the ingest step by step. */
export interface Stepper {
  /** Reads the next blocks, if there are any, and waits until the previous ones are written. */
  next(signal: AbortSignal): Promise<Step>
  /** Called after a failure: the next step continues after the last block in the store. */
  reset(): void
}

export const createStepper = ({
  options,
  tracker,
  readChainHead,
  readBlocks,
  writer,
  nodeTimer,
}: StepperDependencies): Stepper => {
  const { clock, pollEvery, nodeShare } = options
  let known: ChainHead | null = null
  /** The last block passed to the writer; undefined if it must be read from the store. */
  let after: Position | null | undefined

  const currentHead = async (signal: AbortSignal): Promise<ChainHead> => {
    if (known !== null && clock.elapsed() - known.at < HEAD_EVERY) return known
    known = await readChainHead(signal)
    tracker.setNodeHeight(known, clock.now())
    return known
  }

  /** Time in which the ingest itself works counts as rest for the node. */
  const startRest = (): (() => number) => {
    const [began, before] = [clock.elapsed(), nodeTimer.total()]
    return () => Math.max(0, (nodeTimer.total() - before) / nodeShare - (clock.elapsed() - began))
  }

  const wait = async (trouble: string | null, ms: number): Promise<Step> => {
    await writer.done()
    tracker.setPhase(trouble === null ? 'tail' : 'waiting')
    tracker.setTrouble(trouble)
    known = null
    return { wait: ms, isIdle: true }
  }

  return {
    next: async (signal) => {
      const remainingRest = startRest()
      const last = after === undefined ? await writer.held() : after
      after = last
      const head = await currentHead(signal)
      if (head.behind !== null) return await wait(head.behind, BEHIND_POLL_EVERY)
      if (head.height === null) return await wait('the node has no final block yet', pollEvery)
      const from = last === null ? startOf(options, head.height) : last.number + 1
      if (from > head.height) {
        const left = pollEvery - (clock.elapsed() - head.at)
        return await wait(problemOf(last, head.height), Math.max(left, pollEvery * MIN_PAUSE))
      }
      const isTail = head.height - from < TAIL
      tracker.setPhase(isTail ? 'tail' : 'back-fill')
      const final = head.hash === null ? null : { number: head.height, hash: head.hash }
      const blocks = await readBlocks({ from, to: head.height, after: last, final, signal })
      await writer.begin(blocks)
      tracker.setTrouble(null)
      const newest = blocks.at(-1)
      after = newest === undefined ? last : { number: newest.number, hash: newest.hash }
      return { wait: isTail ? 0 : remainingRest(), isIdle: false }
    },
    reset: () => {
      known = null
      after = undefined
    },
  }
}

/** Blocks that would be pruned at once are not read. */
const startOf = ({ fromBlock, retention }: Required<IngestOptions>, height: number): number =>
  retention === 'unbounded' || retention.blocks === undefined
    ? fromBlock
    : Math.max(fromBlock, height - retention.blocks + 1)

const problemOf = (last: Position | null, height: number): string | null => {
  if (last === null) return 'the first block to index is not final yet'
  return height < last.number ? "the node's final block is below the last block in the store" : null
}
