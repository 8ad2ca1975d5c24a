import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listScenarios, type Scenario } from '../src/simulator/scenario/scenario.ts'
import { type Prometheus, startPrometheus } from '../test/support/prometheus.ts'
import { startNode } from './rehearsed-node.ts'

/** So many nodes are rehearsed at once. */
const AT_ONCE = 4
const AFTERMATH_S = 70

interface Found {
  readonly scenario: Scenario
  readonly before: string
  readonly after: string
  /** Seconds from the fault to the first scrape that shows it; undefined where none did. */
  readonly seconds: number | undefined
  /** Whether the signal was there before its time. */
  readonly isEarly: boolean
}

/** In every scenario something begins in the 30th second, if not before: a line of it, or the last day before a fork. */
const LATEST_FAULT_S = 30
const faultOf = ({ steps }: Scenario): number =>
  Math.min(LATEST_FAULT_S, (steps.find(({ afterMs }) => afterMs > 0)?.afterMs ?? 0) / 1000)

/** `left OPERATOR number`: what is watched, without the judgement. */
const leftOf = (signal: string): string => signal.replace(/\s*(?:[<>]=?|[=!]=)\s*[\d.e+-]+$/, '')

/** One node, until the fault must have shown. */
const rehearse = async (scenario: Scenario): Promise<Found> => {
  const node = await startNode(scenario)
  const prometheus = await startPrometheus([`127.0.0.1:${node.agent.port}`])
  try {
    const fault = faultOf(scenario)
    await delay(node.beganAt + (fault + AFTERMATH_S) * 1000 - Date.now())
    return await judge(prometheus, { scenario, faultAt: node.beganAt / 1000 + fault })
  } finally {
    await prometheus.stop()
    await node.close()
  }
}

const judge = async (
  prometheus: Prometheus,
  { scenario, faultAt }: { readonly scenario: Scenario; readonly faultAt: number },
): Promise<Found> => {
  const { signal = '' } = scenario
  const range = { from: faultAt - 25, to: faultAt + AFTERMATH_S, step: 1 }
  const seen = await prometheus.range(signal, range)
  const [first] = seen.flatMap(({ points }) => points.map(({ at }) => at)).toSorted((a, b) => a - b)
  if (first === undefined) {
    return { scenario, before: '', after: '', seconds: undefined, isEarly: false }
  }
  const labels = seen.find(({ points }) => points.some(({ at }) => at === first))?.labels ?? {}
  const watched = (await prometheus.range(leftOf(signal), range)).find(
    (series) => JSON.stringify(series.labels) === JSON.stringify(labels),
  )
  const last = watched?.points.findLast(({ at }) => at < first)
  const now = watched?.points.find(({ at }) => at >= first)
  return {
    scenario,
    before: last === undefined ? 'absent' : figure(last.value),
    after: now === undefined ? 'absent' : figure(now.value),
    seconds: first - faultAt,
    isEarly: first < faultAt,
  }
}

const figure = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toPrecision(4)

test('the signal that shows each failure first, in a real Prometheus that scrapes every second', async () => {
  const asked = process.env['SCENARIO']
  const scenarios = (await listScenarios()).filter(
    ({ name, signal }) =>
      signal !== undefined && (asked === undefined || asked.split(',').includes(name)),
  )
  const found: Found[] = []
  const queue = [...scenarios]
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const one = await rehearse(next)
      found.push(one)
      console.log(row(one))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const table = found
    .toSorted((a, b) => (a.scenario.name < b.scenario.name ? -1 : 1))
    .map(row)
    .join('\n')
  console.log(`${HEAD}\n${table}`)
  expect(
    found
      .filter(({ seconds, isEarly }) => seconds === undefined || isEarly)
      .map(({ scenario }) => scenario.name),
  ).toEqual([])
})

const HEAD = `| scenario | failure | signal | last before | first after | seconds |
|---|---|---|---|---|---|`

const row = ({ scenario, before, after, seconds }: Found): string =>
  `| ${scenario.name} | ${scenario.failures.join(' ')} | \`${scenario.signal}\` | ${before} | ${after} | ${
    seconds?.toFixed(1) ?? 'never'
  } |`
