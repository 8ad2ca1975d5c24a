import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listScenarios, type Scenario } from '../simulator/scenario/scenario.ts'
import { type Prometheus, startPrometheus } from '../test/support/prometheus.ts'
import { startNode } from './simulated-node.ts'

/** Number of nodes simulated concurrently. */
const CONCURRENCY = 4
const AFTERMATH_S = 70

interface SignalResult {
  readonly scenario: Scenario
  readonly before: string
  readonly after: string
  /** Seconds from the fault to the first scrape that shows it; undefined if none does. */
  readonly seconds: number | undefined
  /** Whether the signal had a result before the fault. */
  readonly isEarly: boolean
}

/** Every scenario has a change by the 30th second: a directive, or the last day before a fork. */
const LATEST_FAULT_S = 30
const faultOf = ({ steps }: Scenario): number =>
  Math.min(LATEST_FAULT_S, (steps.find(({ afterMs }) => afterMs > 0)?.afterMs ?? 0) / 1000)

/** Of `left OPERATOR number` the left operand: the value without the comparison. */
const leftOf = (signal: string): string => signal.replace(/\s*(?:[<>]=?|[=!]=)\s*[\d.e+-]+$/, '')

/** Runs one node until the fault must be visible. */
const runScenario = async (scenario: Scenario): Promise<SignalResult> => {
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
): Promise<SignalResult> => {
  const { signal = '' } = scenario
  const range = { from: faultAt - 25, to: faultAt + AFTERMATH_S, step: 1 }
  const seen = await prometheus.range(signal, range)
  const [first] = seen.flatMap(({ points }) => points.map(([at]) => at)).toSorted((a, b) => a - b)
  if (first === undefined) {
    return { scenario, before: '', after: '', seconds: undefined, isEarly: false }
  }
  const labels = seen.find(({ points }) => points.some(([at]) => at === first))?.labels ?? {}
  const watched = (await prometheus.range(leftOf(signal), range)).find(
    (series) => JSON.stringify(series.labels) === JSON.stringify(labels),
  )
  const last = watched?.points.findLast(([at]) => at < first)
  const now = watched?.points.find(([at]) => at >= first)
  return {
    scenario,
    before: last === undefined ? 'absent' : figure(last[1]),
    after: now === undefined ? 'absent' : figure(now[1]),
    seconds: first - faultAt,
    isEarly: first < faultAt,
  }
}

const figure = (value: number): string => (Number.isInteger(value) ? String(value) : value.toPrecision(4))

test('the signal of each failure, in a real Prometheus that scrapes every second', async () => {
  const asked = process.env['SCENARIO']
  const scenarios = (await listScenarios()).filter(
    ({ name, signal }) => signal !== undefined && (asked === undefined || asked.split(',').includes(name)),
  )
  const found: SignalResult[] = []
  const queue = [...scenarios]
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const one = await runScenario(next)
      found.push(one)
      console.log(row(one))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const table = found
    .toSorted((a, b) => (a.scenario.name < b.scenario.name ? -1 : 1))
    .map(row)
    .join('\n')
  console.log(`${HEAD}\n${table}`)
  expect(
    found.filter(({ seconds, isEarly }) => seconds === undefined || isEarly).map(({ scenario }) => scenario.name),
  ).toEqual([])
})

const HEAD = `| scenario | failure | signal | last before | first after | seconds |
|---|---|---|---|---|---|`

const row = ({ scenario, before, after, seconds }: SignalResult): string =>
  `| ${scenario.name} | ${scenario.failures.join(' ')} | \`${scenario.signal}\` | ${before} | ${after} | ${
    seconds?.toFixed(1) ?? 'never'
  } |`
