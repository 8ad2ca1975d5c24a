interface RatePoint {
  /** A time, or the number of a block: increasing. */
  readonly at: number
  readonly value: number
}

/**
 * The mean rate of a value over its newest points, those within `span` of the last one; `least` is the shortest distance.
 * `isSparse`: points may come further apart than the span, and the newest one that is at least as far is the first.
 */
export const createRate = ({ span, least, isSparse = false }: RateOptions) => {
  let points: readonly RatePoint[] = []
  return {
    last: () => points.at(-1),
    /** Removes the points that are not before this one: a clock was set back, or a chain was reset. */
    add: (point: RatePoint): void => {
      const known = points.filter(({ at }) => at < point.at)
      const start = known.findLastIndex(({ at }) => point.at - at >= span)
      const within = known.filter(({ at }) => point.at - at <= span)
      points = [...(isSparse ? known.slice(Math.max(0, start)) : within), point]
    },
    clear: (): void => {
      points = []
    },
    /** The change of the value for each unit of `at`; null while that is unknown. */
    read: (): number | null => {
      const [from, to] = [points[0], points.at(-1)]
      return !from || !to || to.at - from.at < least ? null : (to.value - from.value) / (to.at - from.at)
    },
  }
}

interface RateOptions {
  readonly span: number
  readonly least: number
  readonly isSparse?: boolean
}
