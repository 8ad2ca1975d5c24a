import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { ruleSet } from '../../src/health/rules/index.ts'
import { parsePrometheusText } from '../../src/parsers/prometheus-text.ts'
import { startHost } from '../support/host.ts'
import { textStream } from '../support/text-stream.ts'

/** Just after the polls of second 60: the longest wait for the next ones. */
const FAULT_S = 61
const AFTER_S = 60
const TARGET = { instance: 'a', job: 'chain-agent' }

/** Failure, and the directives of the simulator that cause it. */
const FAILURES: readonly (readonly [string, ...string[]])[] = [
  ['no block arrives', 'consensus stops'],
  ['consensus crashes', 'bft crashes SIGABRT'],
  ['execution asserts', 'execution asserts'],
  ['the RPC exits', 'rpc exits 1'],
  ['the RPC does not answer', 'rpc fails'],
  ['no peer is connected', 'peers sessions 2'],
  ['the node is 70 blocks behind', 'node behind 70'],
  ['votes stop', 'votes stop'],
  ['a drive is gone', 'host nvme gone'],
  ['the clock is off by 1 s', 'host clock 1000ms'],
]

/** Those of the configuration; hosts of tests have shorter ones. */
const DEFAULT_INTERVALS = {
  'reference.interval': '10s',
  'services.interval': '4s',
  'native.interval': '10s',
  'host.interval': '15s',
  'keys.interval': '1m',
  'version.interval': '1m',
}

const healthSchema = z.object({
  findings: z.array(z.object({ alert: z.string(), severity: z.string() })),
})
const eventsSchema = z.object({ events: z.array(z.object({ severity: z.string() })) })
const logSchema = z.object({ level: z.union([z.string(), z.number()]) })

const WARNINGS: readonly (string | number)[] = ['warn', 'error', 'fatal', 40, 50, 60]
const isSevere = ({ severity }: { readonly severity: string }): boolean => severity !== 'info' && severity !== 'none'

/** Seconds from the fault to the first signal in each place; null: none within a minute. */
interface Signals {
  readonly api: number | null
  readonly page: number | null
  readonly event: number | null
  readonly log: number | null
  /** The first alert, pending or firing, in a Prometheus that scrapes and evaluates at this interval. */
  readonly scraped5s: number | null
  readonly scraped15s: number | null
}

const play = async (directives: readonly string[]): Promise<Signals> => {
  const log = textStream()
  const start = async (stream = textStream().stream) =>
    startHost({
      scenario: directives.map((directive) => `${FAULT_S}s ${directive}`).join('\n'),
      second: 0,
      settings: DEFAULT_INTERVALS,
      log: pino({ base: null }, stream),
    })
  const host = await start(log.stream)
  // Each request for the health evaluates the rules: events and log lines are those of an agent without a viewer.
  const viewed = await start()
  const first: { -readonly [Place in keyof Signals]: number | null } = {
    api: null,
    page: null,
    event: null,
    log: null,
    scraped5s: null,
    scraped15s: null,
  }
  const scrapes = ([5, 15] as const).map((every) => ({
    every,
    evaluator: createRuleEvaluator(ruleSet()),
    known: new Set<string>(),
  }))
  const before = { findings: new Set<string>(), events: 0, lines: 0, headline: '' }
  const note = (place: keyof Signals, second: number, isSignal: boolean): void => {
    if (isSignal && second >= FAULT_S) first[place] ??= second - FAULT_S
  }
  try {
    for (let second = 0; second <= FAULT_S + AFTER_S; second += 1) {
      const { findings } = healthSchema.parse(JSON.parse(await viewed.page('/api/v1/health')))
      const severe = findings.filter(isSevere).map(({ alert }) => alert)
      const { events } = eventsSchema.parse(JSON.parse(await host.page('/api/v1/events?limit=10000')))
      const severeEvents = events.filter(isSevere).length
      const lines = log.chunks.filter((line) => WARNINGS.includes(logSchema.parse(JSON.parse(line)).level)).length
      const headline = /<h1[^>]*>(.*?)<\/h1>/s.exec(await viewed.page('/'))?.[1] ?? ''
      if (second < FAULT_S) {
        for (const alert of severe) before.findings.add(alert)
        Object.assign(before, { events: severeEvents, lines, headline })
      }
      note(
        'api',
        second,
        severe.some((alert) => !before.findings.has(alert)),
      )
      note('page', second, headline !== before.headline)
      note('event', second, severeEvents > before.events)
      note('log', second, lines > before.lines)
      for (const { every, evaluator, known } of scrapes) {
        if (second % every !== 0) continue
        const { samples } = parsePrometheusText(await host.page('/metrics'))
        const all = samples.map(({ name, labels, value }) => ({ name, labels: { ...labels, ...TARGET }, value }))
        evaluator.evaluate(host.now(), [...all, { name: 'up', labels: TARGET, value: 1 }])
        const active = evaluator
          .active()
          .filter(({ rule }) => isSevere({ severity: rule.labels['severity'] ?? '' }))
          .map(({ rule }) => rule.alert)
        if (second < FAULT_S) for (const alert of active) known.add(alert)
        note(
          every === 5 ? 'scraped5s' : 'scraped15s',
          second,
          active.some((alert) => !known.has(alert)),
        )
      }
      await host.second()
      await viewed.second()
    }
    return first
  } finally {
    await host.close()
    await viewed.close()
  }
}

const cell = (seconds: number | null): string => (seconds === null ? '-' : `${seconds}`)

it('is as the reference states, within 15 s of a stall and 5 s of a crash', async () => {
  const rows: (readonly [string, Signals])[] = []
  for (const [failure, ...directives] of FAILURES) rows.push([failure, await play(directives)])
  const table = rows
    .map(
      ([failure, { api, page, event, log, scraped5s, scraped15s }]) =>
        `| ${[failure, ...[api, page, event, log, scraped5s, scraped15s].map(cell)].join(' | ')} |`,
    )
    .join('\n')
  console.log(table)
  const inAgent = new Map(rows.map(([failure, { api, page, event, log }]) => [failure, [api, page, event, log]]))
  for (const seconds of inAgent.get('no block arrives') ?? []) expect(seconds).toBeLessThanOrEqual(15)
  for (const seconds of inAgent.get('consensus crashes') ?? []) expect(seconds).toBeLessThanOrEqual(5)
  const reference = await readFile('scenarios/failures.md', 'utf8')
  const words = (text: string): string => text.replace(/ +/g, ' ')
  expect(words(reference)).toContain(table)
})
