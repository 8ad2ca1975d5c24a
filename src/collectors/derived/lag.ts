import { second } from '../../core/units.ts'

interface Moment {
  /** Milliseconds since the epoch, and by the clock that never goes back. */
  readonly now: number
  readonly elapsed: number
  /** The highest block that the node is known to have; undefined where nobody says. */
  readonly own: number | undefined
  /** Its newest block's own time, in milliseconds since the epoch. */
  readonly blockAt: number | undefined
  /** The head of the network as references see it; undefined without a quorum. */
  readonly head: number | undefined
  /** What else tells how far it is behind: its own status report. */
  readonly difference: number | undefined
  /** Blocks per second; null while it is not measured. */
  readonly rate: number | null
}

/** A block is known some seconds after its time, and asked for every few seconds: that is no delay. */
const USUAL_MS = 10 * second

/**
 * How many blocks the node is behind, also while it tells nothing: by what it had and what others have
 * or, where there are no others, by the age of its newest block and the rate of the chain. Null is unknown.
 */
export const createLag = () => {
  let had: { readonly height: number; readonly since: number } | undefined
  return (moment: Moment): number | null => {
    const { now, elapsed, own, blockAt, head, difference, rate } = moment
    if (own !== undefined && own > (had?.height ?? -1)) had = { height: own, since: elapsed }
    if (!had) return null
    if (head !== undefined) return Math.max(0, head - had.height)
    const age = blockAt === undefined ? undefined : Math.max(0, now - blockAt)
    const late = Math.max(elapsed - had.since, age ?? 0)
    if (late <= USUAL_MS)
      return age === undefined ? (difference ?? null) : Math.max(0, difference ?? 0)
    return rate === null ? null : Math.max(Math.floor((late / second) * rate), difference ?? 0)
  }
}
