import { type Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { type Ask, LATE_TRIES, twice } from './ask.ts'
import { backoff } from './backoff.ts'
import { type Counters } from './counters.ts'
import { QueryError } from './errors.ts'
import { type CheckedPage, readPage } from './page.ts'
import { createSpan } from './span.ts'
import { createStall, type Standing } from './stall.ts'
import { type Tell } from './tell.ts'

/** One page that begins at `from` and covers at least that block, none after `end`. Throws a QueryError. */
export type Fetch = (from: number, end: number, signal: AbortSignal) => Promise<CheckedPage>

interface FetchOptions {
  readonly ask: Ask
  readonly clock: Clock
  readonly tell: Tell
  readonly counters: Counters
  readonly wire: (from: number, end: number) => string
  /** The block at which all ends, and what the service says of its height when that has been reached. */
  readonly target: () => number
  readonly height: (signal: AbortSignal) => Promise<number>
}

/** A query and a height each time: ten requests in ten seconds are too many already. */
const BETWEEN_PAIRS = 2.5 * second

interface Piece {
  readonly from: number
  readonly end: number
  /** Tries that came to nothing in time, of more blocks than these. */
  readonly tried?: number
}

export const createFetch = (options: FetchOptions): Fetch => {
  const { clock, tell, counters } = options
  const stall = createStall(clock, tell)
  const span = createSpan()
  const once = createOnce(options)
  return async (from, last, signal) => {
    for (let tried = 0; ;) {
      const turn = await stall.enter(signal)
      const end = span.end(from, last)
      try {
        const came = await once({ from, end, tried }, signal)
        if (came === 'too slow') tried += LATE_TRIES
        if (came === 'too large' || came === 'too slow') {
          if (span.shrink(end - from + 1)) continue
          throw tell('fatal', 'what it has of a single block is too large', `block ${from}`)
        }
        const standing = await standingOf(options, came, signal)
        if (standing === undefined) {
          stall.moved(turn)
          span.fits(came.next - from)
          counters.bytes += came.body.length
          return came
        }
        counters.retries += 1
        counters.waitedMs += stall.stood(standing)
      } finally {
        stall.leave(turn)
      }
    }
  }
}

const createOnce = ({ ask, clock, tell, counters, wire }: FetchOptions) => {
  const pause = async (signal: AbortSignal): Promise<void> => {
    counters.retries += 1
    await clock.sleep(backoff(1), signal)
  }
  const send = async (body: string, { from, end, tried = 0 }: Piece, signal: AbortSignal) => {
    const late = { tried, canShrink: end > from }
    const came = await ask({ path: 'query', body, tell, counters, signal, late })
    return typeof came === 'string' ? came : readPage(came, { from, end }, tell)
  }
  /** An inclusive service sends one block more than is wanted: that may have been what was too much. */
  const alone = async (piece: Piece, signal: AbortSignal): Promise<CheckedPage | 'too large'> => {
    try {
      const came = await send(wire(piece.from, piece.from - 1), piece, signal)
      // To an exclusive service that was no block at all.
      const isShown = typeof came === 'object' && (came.count > 0 || came.isTold)
      return isShown && came.next > piece.from ? came : 'too large'
    } catch (error) {
      if (error instanceof QueryError && (error.kind === 'fatal' || error.kind === 'protocol')) {
        return 'too large'
      }
      throw error
    }
  }
  return async (piece: Piece, signal: AbortSignal) => {
    const came = await twice(
      () => send(wire(piece.from, piece.end), piece, signal),
      () => pause(signal),
    )
    return came === 'too large' && piece.from === piece.end ? alone(piece, signal) : came
  }
}

/** Why the page brings nothing further; undefined where it does. */
const standingOf = async (
  { target, height }: FetchOptions,
  { from, next, archiveHeight, isInferred }: CheckedPage,
  signal: AbortSignal,
): Promise<Standing | undefined> => {
  const behind = (has: number, asked: number): string =>
    has < 0
      ? `it has no blocks yet, and was asked for ${asked}`
      : `it has the blocks up to ${has}, and was asked for ${asked}`
  if (next > from) {
    if (!isInferred || next <= target()) return undefined
    // The instance that answered may have been one that is behind.
    const has = await height(signal)
    return has >= target() ? undefined : { evidence: behind(has, target()), least: BETWEEN_PAIRS }
  }
  const isBehind = archiveHeight !== null && archiveHeight < from
  const evidence = isBehind ? behind(archiveHeight, from) : `block ${from}, again and again`
  return { evidence, least: 0 }
}
