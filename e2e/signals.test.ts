import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parse as parseYaml } from 'yaml'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { placeSchema, renderConfig } from '../src/cli/demo-texts.ts'
import { systemClock } from '../src/core/clock.ts'
import type { Scenario } from '../src/simulator/scenario/scenario.ts'
import { listScenarios } from '../src/simulator/scenario/scenarios.ts'
import { createSimulator } from '../src/simulator/simulator.ts'
import { startAgent } from '../test/support/agent.ts'
import { type Prometheus, startPrometheus } from '../test/support/prometheus.ts'

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

const faultOf = ({ steps }: Scenario): number =>
  (steps.find(({ afterMs }) => afterMs > 0)?.afterMs ?? 0) / 1000

/** `left OPERATOR number`: what is watched, without the judgement. */
const leftOf = (signal: string): string => signal.replace(/\s*(?:[<>]=?|[=!]=)\s*[\d.e+-]+$/, '')

/** One node, and an agent beside it with the configuration of the demo, until the fault must have shown. */
const rehearse = async (scenario: Scenario): Promise<Found> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-signals-'))
  const beganAt = Date.now()
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario,
    directory,
    rpcPort: 0,
    referencePort: 0,
    toolClient: join(import.meta.dirname, '../dist/simulator/tools/tool.js'),
  })
  const text = renderConfig(placeSchema.parse(simulator), { directory, port: 0 })
  const config = z.record(z.string(), z.unknown()).parse(parseYaml(text))
  const agent = await startAgent(config, { PATH: simulator.binDirectory })
  const prometheus = await startPrometheus([`127.0.0.1:${agent.port}`])
  try {
    const fault = faultOf(scenario)
    await delay(beganAt + (fault + AFTERMATH_S) * 1000 - Date.now())
    return await judge(prometheus, { scenario, faultAt: beganAt / 1000 + fault })
  } finally {
    await prometheus.stop()
    await agent.stop()
    await simulator.close()
    await rm(directory, { recursive: true, force: true })
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
