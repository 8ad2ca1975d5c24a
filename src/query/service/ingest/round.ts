import { second } from '../../../core/units.ts'
import { type Busy } from './busy.ts'
import { type IngestOptions } from './options.ts'
import { type NextBlocks, type Position } from './source.ts'
import { type Tally } from './tally.ts'
import { type AskTip, type Tip } from './tip.ts'
import { type Writer } from './writer.ts'

/** In back-fill the node is asked so often how far it is, and whether it wants to be left alone. */
const TIP_EVERY = 5 * second
/** A node that is behind is asked so often whether it has caught up, and nothing else. */
const LEFT_ALONE = 15 * second
/** Within so many blocks of the tip it is no more called back-fill. */
const TAIL = 100
/** Of the time between two questions at the tip: a node that is slow to answer is not asked without end. */
const LEAST_PAUSE = 1 / 4

interface Parts {
  readonly options: Required<IngestOptions>
  readonly tally: Tally
  readonly askTip: AskTip
  readonly next: NextBlocks
  readonly writer: Writer
  readonly busy: Busy
}

interface Step {
  /** Before the next one, in milliseconds. */
  readonly wait: number
  /** All that there was to do is done, and written. */
  readonly isQuiet: boolean
}

/** One step of the ingest after another. */
export interface Round {
  /** Reads the next blocks, where there are any, and has those before written. */
  go(signal: AbortSignal): Promise<Step>
  /** Something failed: the next step begins with what the store says it holds. */
  reset(): void
}

export const createRound = ({ options, tally, askTip, next, writer, busy }: Parts): Round => {
  const { clock, pollEvery, nodeShare } = options
  let known: Tip | null = null
  /** The last block that was handed over; undefined where only the store knows. */
  let after: Position | null | undefined

  const tipNow = async (signal: AbortSignal): Promise<Tip> => {
    if (known !== null && clock.elapsed() - known.at < TIP_EVERY) return known
    known = await askTip(signal)
    tally.told(known, clock.now())
    return known
  }

  /** Our own work is rest for the node: where that takes long enough, there is no need of more. */
  const startRound = (): (() => number) => {
    const [began, before] = [clock.elapsed(), busy.total()]
    return () => Math.max(0, (busy.total() - before) / nodeShare - (clock.elapsed() - began))
  }

  const wait = async (trouble: string | null, ms: number): Promise<Step> => {
    await writer.done()
    tally.phase(trouble === null ? 'tail' : 'waiting')
    tally.trouble(trouble)
    known = null
    return { wait: ms, isQuiet: true }
  }

  return {
    go: async (signal) => {
      const restOf = startRound()
      const last = after === undefined ? await writer.held() : after
      after = last
      const tip = await tipNow(signal)
      if (tip.behind !== null) return await wait(tip.behind, LEFT_ALONE)
      if (tip.height === null) return await wait('the node has no final block yet', pollEvery)
      const from = last === null ? startOf(options, tip.height) : last.number + 1
      if (from > tip.height) {
        const left = pollEvery - (clock.elapsed() - tip.at)
        return await wait(shortOf(last, tip.height), Math.max(left, pollEvery * LEAST_PAUSE))
      }
      const isTail = tip.height - from < TAIL
      tally.phase(isTail ? 'tail' : 'back-fill')
      const final = tip.hash === null ? null : { number: tip.height, hash: tip.hash }
      const blocks = await next({ from, to: tip.height, after: last, final, signal })
      await writer.begin(blocks)
      tally.trouble(null)
      const newest = blocks.at(-1)
      after = newest === undefined ? last : { number: newest.number, hash: newest.hash }
      return { wait: isTail ? 0 : restOf(), isQuiet: false }
    },
    reset: () => {
      known = null
      after = undefined
    },
  }
}

/** Blocks that would be forgotten at once are not read in the first place. */
const startOf = ({ fromBlock, retention }: Required<IngestOptions>, height: number): number =>
  retention === 'unbounded' || retention.blocks === undefined
    ? fromBlock
    : Math.max(fromBlock, height - retention.blocks + 1)

const shortOf = (last: Position | null, height: number): string | null => {
  if (last === null) return 'the first block to index is not final yet'
  return height < last.number ? "the node's final block is below the last one that is held" : null
}
