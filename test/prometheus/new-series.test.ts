import { beforeAll, expect, it } from 'vitest'
import { alerts, rules } from '../alerts/files.ts'
import { readPromql } from '../support/promql.ts'
import { requireVictoria, startVictoria, type Victoria } from '../support/victoria.ts'

const describe = await requireVictoria()

/** A series for each selector of the rules. For another comparison than `=` the label has a value that satisfies it. */
const SELECTED: ReadonlySet<string> = new Set(
  rules
    .flatMap(({ expr }) => readPromql(expr).selected)
    .map(({ metric, matchers }) => {
      const labels: Record<string, string> = { __name__: metric, job: 'chain-agent', cluster: 'mainnet' }
      for (const { label, comparison, value } of matchers) {
        if (comparison === '=') labels[label] = value
        if (comparison === '=~') labels[label] = value.split('|')[0] ?? ''
        if (comparison === '!=') labels[label] = `not ${value}`
      }
      return JSON.stringify(labels)
    }),
)

/** As the first value of a counter VictoriaMetrics adds 3 to its increase, and not 1,000,000. */
const VALUES = [0, 1, 3, 1e6]
const [STEP, MINUTE, HOUR] = [15, 60, 3600]
const UNITS: Readonly<Record<string, number>> = { s: 1, m: MINUTE, h: HOUR }

const secondsOf = (duration = '0s'): number => Number.parseInt(duration, 10) * (UNITS[duration.slice(-1)] ?? NaN)
const times = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) }, (_, index) => from + index * step)

describe('nodes of VictoriaMetrics whose values never change', () => {
  let victoria: Victoria
  const longest = Math.max(...alerts.map((alert) => secondsOf(alert.for)))
  /** When the new node is scraped first. */
  const start = Math.floor(Date.now() / 1000) - longest - HOUR
  const recent = times(start, start + longest + HOUR / 2, STEP)
  // Before the longest range in which a rule counts.
  const SAMPLES = { old: [...times(start - 26 * HOUR, start, 5 * MINUTE), ...recent], new: recent }

  beforeAll(async () => {
    victoria = await startVictoria()
    const lines = Object.entries(SAMPLES).flatMap(([age, at]) =>
      VALUES.flatMap((value) =>
        [...SELECTED].map((labels) => {
          const metric: unknown = { ...JSON.parse(labels), instance: `${age} ${value}` }
          return JSON.stringify({ metric, values: at.map(() => value), timestamps: at.map((time) => time * 1000) })
        }),
      ),
    )
    await victoria.importLines(lines)
    return victoria.stop
  })

  /** The instances of the alert a minute after its `for`. */
  const firing = async ({ expr, for: pending }: (typeof alerts)[number]): Promise<readonly string[]> => {
    const elements = await victoria.query(expr, start + secondsOf(pending) + MINUTE)
    return elements.flatMap(({ labels }) => labels['instance'] ?? [])
  }

  it('no alert fires for a new node only because it is new', async () => {
    const onlyNew: string[] = []
    for (const alert of alerts) {
      const instances = await firing(alert)
      for (const value of VALUES) {
        if (instances.includes(`new ${value}`) && !instances.includes(`old ${value}`))
          onlyNew.push(`${alert.alert} ${alert.expr} ${value}`)
      }
    }
    expect(onlyNew).toEqual([])
  })

  it('many alerts fire for both', async () => {
    const both = await Promise.all(alerts.map(firing))
    expect(
      both.filter((instances) => instances.includes('old 1') && instances.includes('new 1')).length,
    ).toBeGreaterThan(20)
  })
})
