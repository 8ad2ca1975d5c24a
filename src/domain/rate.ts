interface RatePoint {
  /** A time, or the number of a block: increasing. */
  readonly at: number
  readonly value: number
}

/** The mean rate of a value over its newest points, which are `span` apart, or less at the beginning and `least` then. */
export const createRate = ({ span, least }: Readonly<Record<'span' | 'least', number>>) => {
  let points: readonly RatePoint[] = []
  return {
    last: () => points.at(-1),
    /** Removes the points that are not before this one: a clock was set back, or a chain was reset. */
    add: (point: RatePoint): void => {
      const known = points.filter(({ at }) => at < point.at && point.at - at <= 2 * span)
      const start = known.findLastIndex(({ at }) => point.at - at >= span)
      points = [...known.slice(Math.max(0, start)), point]
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
