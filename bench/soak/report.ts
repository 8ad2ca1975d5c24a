import { z } from 'zod'

export const sampleSchema = z.object({
  /** Name of the process. */
  name: z.string(),
  /** Minutes since the start of the run: of the node's clock in a sandbox, else of real time. */
  minute: z.number(),
  figures: z.record(z.string(), z.number()),
})

export type Sample = z.output<typeof sampleSchema>

/** In the samples that count objects. */
const COUNTED = 'objects: timers'
const FULLY_COLLECTED: ReadonlySet<string> = new Set(['RSS after collection, MiB', 'anonymous after collection, MiB'])

/**
 * The figures that must not grow, and the smallest growth that counts: noise of the allocator and of clients that are connected at the
 * time of a sample.
 */
const BOUNDED: Readonly<Record<string, number>> = {
  'RSS after collection, MiB': 8,
  'anonymous after collection, MiB': 8,
  'heap after collection, MiB': 2,
  descriptors: 4,
  children: 2,
  resources: 4,
  [COUNTED]: 20,
  'objects: signals': 20,
  'objects: listeners': 50,
  'objects: emitters': 50,
  'objects: promises': 200,
  'state, MiB': 4,
  'state, files': 2,
  '/metrics p50, ms': 5,
}

/** Shown without a limit. */
const SHOWN = ['RSS, MiB', '/metrics max, ms']

/** Minute and value. */
type Point = readonly [number, number]

interface Growth {
  readonly perHour: number
  /** From the first to the last sample, by the fitted line. */
  readonly total: number
  readonly share: number
  readonly isBeyond: boolean
}

/** The slope by least squares. A growth counts that is beyond the share, the floor and twice its standard error. */
export const growthOf = (
  points: readonly Point[],
  limits: { readonly share: number; readonly floor: number },
): Growth | undefined => {
  if (points.length < 4) return undefined
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
  const [meanX, meanY] = [mean(xs), mean(ys)]
  const spread = sum(xs.map((x) => (x - meanX) ** 2))
  const slope = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / spread
  const residuals = sum(points.map(([x, y]) => (y - meanY - slope * (x - meanX)) ** 2))
  const error = Math.sqrt(residuals / (points.length - 2) / spread)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const atStart = meanY + slope * (first - meanX)
  const total = slope * (last - first)
  const share = total / Math.max(Math.abs(atStart), Number.EPSILON)
  const isBeyond = share > limits.share && total > limits.floor && slope > 2 * error
  return { perHour: slope * 60, total, share, isBeyond }
}

interface Report {
  readonly text: string
  readonly failures: readonly string[]
}

/** A table per process: each figure by period, and its growth after the warm-up, the first sixth of the run. */
export const renderReport = (samples: readonly Sample[], share: number): Report => {
  const lastMinute = Math.max(...samples.map(({ minute }) => minute))
  const period = lastMinute > 360 ? 720 : lastMinute > 90 ? 30 : 10
  const starts = Array.from({ length: Math.max(1, Math.round(lastMinute / period)) }, (_, index) => index * period)
  const failures: string[] = []
  const sections = [...new Set(samples.map(({ name }) => name))].map((name) => {
    const rows = [...Object.keys(BOUNDED), ...SHOWN].flatMap((figure) => {
      const points = samples.flatMap((sample): readonly Point[] => {
        const value = sample.figures[figure]
        if (sample.name !== name || value === undefined) return []
        // Counting objects collects until nothing is left to collect, and returns the pages; a single collection keeps them.
        const isComparable = COUNTED in sample.figures || !FULLY_COLLECTED.has(figure)
        return isComparable ? [[sample.minute, value]] : []
      })
      if (points.length === 0) return []
      const cells = starts.map((from) => {
        const values = points.filter(([minute]) => minute >= from && minute < from + period).map(([, value]) => value)
        return round(figure.includes('max') ? Math.max(...values) : mean(values))
      })
      const floor = BOUNDED[figure]
      if (floor === undefined) return [row([figure, ...cells, '', '', ''])]
      const growth = growthOf(
        points.filter(([minute]) => minute >= lastMinute / 6),
        { share, floor },
      )
      if (!growth) return [row([figure, ...cells, '', '', 'too few samples'])]
      if (growth.isBeyond) failures.push(`${name}: ${figure} grows by ${round(growth.perHour)} per hour`)
      const percent = `${round(growth.share * 100)} %`
      return [row([figure, ...cells, round(growth.perHour), percent, growth.isBeyond ? 'grows' : 'flat'])]
    })
    const heads = starts.map((from) =>
      period < 60 ? `${from} to ${from + period} min` : `${from / 60} to ${(from + period) / 60} h`,
    )
    const head = ['figure', ...heads, 'per hour', 'growth', '']
    return [`### ${name}`, '', row(head), row(head.map(() => '---')), ...rows].join('\n')
  })
  return { text: `${sections.join('\n\n')}\n`, failures }
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length

const round = (value: number): string =>
  Number.isFinite(value) ? `${Number(value.toFixed(Math.abs(value) < 10 ? 2 : 1))}` : ''
