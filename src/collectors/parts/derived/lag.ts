import { second } from '../../../core/units.ts'

interface Moment {
  /** By the clock that never goes back, in milliseconds. */
  readonly elapsed: number
  /** The highest block that the node is known to have; undefined where nobody says. */
  readonly own: number | undefined
  /** The head of the network as others see it; undefined without a quorum. */
  readonly head: number | undefined
  /** Blocks per second; null while it is not measured. */
  readonly rate: number | null
}

/** A height is asked for every few seconds: standing so long is no delay of ours. */
const STANDS_MS = 10 * second

/**
 * How many blocks the node is behind, also while it tells nothing: then by what it had and by what
 * others have or, where there are no others, by the time that has passed. Null is unknown.
 */
export const createLag = () => {
  let had: { readonly height: number; readonly since: number } | undefined
  return ({ elapsed, own, head, rate }: Moment): number | null => {
    if (own !== undefined && own > (had?.height ?? -1)) had = { height: own, since: elapsed }
    if (!had) return null
    if (head !== undefined) return Math.max(0, head - had.height)
    const standing = elapsed - had.since
    if (standing <= STANDS_MS) return 0
    return rate === null ? null : Math.floor((standing / second) * rate)
  }
}
