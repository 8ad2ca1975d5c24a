import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { parseDuration } from '../../src/core/units.ts'
import { agentMetrics } from '../../src/metrics.ts'
import { loadScenario, type Scenario } from '../../simulator/scenario/scenario.ts'
import { openBrowser, probeChromium } from '../page/browser.ts'
import { type Host, startHost } from '../support/host.ts'
import { checkMetrics } from '../support/prometheus.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Exposition, parseExposition } from '../support/scrape.ts'
import { leaksOf, PLANTED, secret } from '../support/secrets.ts'
import { textStream } from '../support/text-stream.ts'
import { differencesFromPrometheus } from './agreement.ts'
import { expectWholeCatalogue } from './catalogue.ts'
import { goldenMetrics } from './golden.ts'
import { createPageRecorder, type PageRecord, type PageRecorder } from './status-page.ts'

/** By then every collector has read once: a series that appears or vanishes later has changed. */
const WARM_S = 20
/** How long after the last line of a scenario it is followed. */
const AFTERMATH_S = 75
const LONGEST_S = 260
const LOOK_EVERY_S = 5
const MAINTENANCE_AT_S = 30
/** Every scenario has begun by then, and each lasts longer. */
const GOLDEN_S = 60
/** After the maintenance. */
const PAGE_S = 90

const leaks = leaksOf(PLANTED)
const FORMATS_WITH_SECRETS = ['ledger-tail', 'consensus-log', 'execution-log', 'prometheus']

export type Coverage = z.output<typeof coverageSchema>
const coverageSchema = z.object({
  /** Metric → a scenario in which its series changed. */
  moved: z.record(z.string(), z.string()),
  /** Metric → a scenario in which it had a series. */
  present: z.record(z.string(), z.string()),
  most: z.object({ series: z.number(), scenario: z.string() }),
})

interface Recording {
  readonly looks: readonly { readonly second: number; readonly metrics: string }[]
  readonly log: readonly string[]
  /** The output of `restart-window --json` with the golden metrics. */
  readonly restart: string
  readonly page: PageRecord | undefined
  /** Everything that the agent emitted: each page as last served, its log and the files of its state directory. */
  readonly emitted: string
}

interface SimulateOptions {
  readonly part?: number
  readonly parts?: number
  /** Seconds of a scenario at most. */
  readonly longest?: number
}

/**
 * Plays the scenarios: the whole agent with the configuration of the demo on a simulated host with secrets planted in
 * it. `part` of `parts` runs in one worker, the others next to it; the part that ends last holds the coverage of all
 * against the catalogue.
 */
export const simulate = async (
  scenarios: readonly Scenario[],
  { part = 0, parts = 1, longest = LONGEST_S }: SimulateOptions,
): Promise<void> => {
  const own: Coverage = { moved: {}, present: {}, most: { series: 0, scenario: '' } }
  /** Compared with Prometheus and drawn in Chromium as well. */
  const isWhole = parts > 1
  const withBrowser = isWhole ? await requireRealPart('Chromium', probeChromium) : undefined
  let browser: Browser | undefined
  let recordPage: PageRecorder | undefined
  // Played here, not read from its golden file: a run that updates the files would compare with the one it replaces.
  let healthy: Recording
  beforeAll(async () => {
    healthy = await play(await loadScenario('healthy'), isWhole ? LONGEST_S : GOLDEN_S)
    if (withBrowser !== describe) return
    browser = await openBrowser()
    recordPage = await createPageRecorder(browser)
  })
  afterAll(async () => browser?.close())
  describe.each(scenarios.filter((_, index) => index % parts === part))('$name', (scenario) => {
    let recording: Recording
    test('plays to its end', async () => {
      recording = await play(scenario, Math.min(longest, secondsOf(scenario)), async (host) =>
        recordPage?.(host, scenarios.indexOf(scenario)),
      )
      cover(scenario.name, recording, own)
      expect(recording.looks.length).toBeGreaterThan(10)
    })
    test('exports the golden metrics', async () => {
      const isBase = scenario.name === 'healthy'
      const golden = goldenMetrics(goldenPage(recording), isBase ? undefined : goldenPage(healthy))
      await expect(golden, UPDATE).toMatchFileSnapshot(`golden/${scenario.name}.txt`)
    })
    test('a restart is safe, or prevented by the conditions that the scenario names', () => {
      const { isSafe, summary, checks } = restartSchema.parse(JSON.parse(recording.restart))
      const obstacles = checks
        .filter(({ state, isRequired }) => isRequired && state !== 'ok')
        .map(({ name, state }) => (state === 'unknown' ? `${name} unknown` : name))
      expect({ obstacles, isSafe }, summary).toEqual({
        obstacles: scenario.restart,
        isSafe: scenario.restart.length === 0,
      })
    })
    test('has no internal failure, and logs changes', () => {
      for (const { metrics } of recording.looks)
        expect(metrics).not.toMatch(/chain_agent_internal_failures_total [1-9]/)
      const changes = recording.log.flatMap((line) => changeSchema.safeParse(JSON.parse(line)).data ?? [])
      expect(changes.length).toBeGreaterThan(10)
    })
    // Where it is not read, it cannot be found either.
    test.each(scenario.name === 'healthy' ? FORMATS_WITH_SECRETS : [])('reads planted text: %s', (format) => {
      expect(recording.looks.at(-1)?.metrics).toMatch(
        new RegExp(String.raw`\nchain_agent_lines_total\{format="${format}",result="unparsed"\} [1-9]`),
      )
    })
    test('emits no planted secret', () => {
      expect(leaks(recording.emitted)).toEqual([])
    })

    if (!isWhole) return
    test('fires the same alerts in the agent as in Prometheus, next to a healthy node of the same name', async () => {
      expect(await differencesFromPrometheus(recording.looks, healthy.looks)).toBe('')
    })
    test('exports metrics of which promtool does not complain', async () => {
      const last = recording.looks.at(-1)?.metrics ?? ''
      expect([await checkMetrics(goldenPage(recording)), await checkMetrics(last)]).toEqual(['', ''])
    })
    withBrowser?.('has a status page that', () => {
      test('fits at each width', () => {
        const wider = Object.entries(recording.page?.overflow ?? {}).filter(([, pixels]) => pixels !== 0)
        expect([wider, Object.keys(recording.page?.overflow ?? {}).length]).toEqual([[], 3])
      })
      test('is accessible at one width in one colour scheme', () => {
        expect(recording.page?.violations).toEqual([])
      })
      test('has the sentence of status', () => {
        expect(recording.page?.headline).toBe(recording.page?.status)
      })
      test('has the same content without JavaScript', () => {
        expect(recording.page?.text.length).toBeGreaterThan(1000)
        expect(recording.page?.text).toBe(recording.page?.textWithoutJavaScript)
      })
      test('is silent', () => {
        expect(recording.page?.complaints).toEqual([])
      })
    })
  })

  if (!isWhole) return
  test('the scenarios of all parts cover the catalogue', async () => {
    const folder = inject('coverage')
    const file = join(folder, `${part}.json`)
    await writeFile(`${file}.new`, JSON.stringify(own))
    await rename(`${file}.new`, file)
    // Written first, read then: the part that ends last reads all.
    const files = (await readdir(folder)).filter((name) => name.endsWith('.json'))
    if (files.length < parts) return
    const texts = await Promise.all(files.map(async (name) => readFile(join(folder, name), 'utf8')))
    expectWholeCatalogue(texts.map((text) => coverageSchema.parse(JSON.parse(text))))
  })
}

const UPDATE = 'if the change is meant: npx vitest run test/scenarios -u, and review the diff'

const goldenPage = ({ looks }: Recording): string => looks.find(({ second }) => second === GOLDEN_S)?.metrics ?? ''

const restartSchema = z.object({
  isSafe: z.boolean(),
  summary: z.string(),
  checks: z.array(z.object({ name: z.string(), state: z.string(), isRequired: z.boolean() })),
})

const play = async (
  scenario: Scenario,
  seconds: number,
  recordPage?: (host: Host) => Promise<PageRecord | undefined>,
): Promise<Recording> => {
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-scenario-'))
  const log = textStream()
  let elapsed = (): number => 0
  const deadMan = await listenForHeartbeats(() => elapsed())
  await writeFile(join(folder, 'heartbeat'), deadMan.url)
  await writeFile(join(folder, 'api-key'), secret('ApiKey'))
  const host = await startHost({
    scenario: scenario.name,
    second: 0,
    hasSecrets: true,
    settings: {
      'heartbeat.urlFile': join(folder, 'heartbeat'),
      'heartbeat.interval': '10s',
      'status.interval': '10s',
      'tokens.apiKeyFile': join(folder, 'api-key'),
    },
    log: pino({ base: null }, log.stream),
  })
  elapsed = host.elapsed
  const looks: Recording['looks'][number][] = []
  let restart = ''
  let page: PageRecord | undefined
  try {
    for (let second = 0; second <= seconds; second += 1) {
      if (second === MAINTENANCE_AT_S) await host.announce({ minutes: 0.5 })
      if (second % LOOK_EVERY_S === 0) looks.push({ second, metrics: await host.page('/metrics') })
      if (second === GOLDEN_S) restart = (await host.run(['restart-window', '--json'])).out
      if (second === PAGE_S) page = await recordPage?.(host)
      await host.second()
    }
    const pages = await Promise.all(['/', '/metrics', '/api/v1/status', '/api/v1/events', '/-/ready'].map(host.page))
    const state = join(host.directory, 'state')
    await mkdir(state, { recursive: true })
    const entries = await readdir(state, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && !/\.(?:new|lock)$/.test(entry.name))
    const kept = await Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
    return { looks, log: log.chunks, restart, page, emitted: [...pages, ...kept, ...log.chunks].join('\n') }
  } finally {
    await host.close()
    deadMan.close()
    await rm(folder, { recursive: true })
  }
}

/** The receiver of heartbeats; from second 40 to 70 it rejects them. */
const listenForHeartbeats = async (elapsed: () => number) => {
  const server = createServer((request, response) => {
    const rejects = elapsed() > 40_000 && elapsed() < 70_000
    request.resume().on('end', () => response.writeHead(rejects ? 503 : 200).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    url: `http://127.0.0.1:${port}/${secret('Heartbeat')}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const cover = (scenario: string, { looks }: Recording, own: Coverage): void => {
  const seen = new Map<string, Set<string>>()
  for (const { second, metrics } of looks) {
    const exposition = parseExposition(metrics)
    const series = seriesOf(exposition).length
    if (series > own.most.series) Object.assign(own.most, { series, scenario })
    const lines = linesByMetric(exposition)
    for (const name of lines.keys()) Object.assign(own.present, { [name]: scenario })
    if (second < WARM_S) continue
    for (const name of Object.keys(agentMetrics)) {
      seen.set(name, (seen.get(name) ?? new Set()).add((lines.get(name) ?? []).join('\n')))
    }
  }
  for (const [name, values] of seen) {
    if (values.size > 1) Object.assign(own.moved, { [name]: scenario })
  }
}

/** A log line about a subject. */
const changeSchema = z.object({ collector: z.string(), subject: z.string(), to: z.string() })

/** Without those of token holders, of which each operator has as many as are configured. */
const seriesOf = ({ text }: Exposition): readonly string[] =>
  text.split('\n').filter((line) => /^[a-z]/.test(line) && !/^chain_token_|collector="tokens"/.test(line))

const secondsOf = ({ steps }: Scenario): number =>
  Math.min(
    LONGEST_S,
    Math.max(PAGE_S, ...steps.map(({ afterMs, text }) => (afterMs + lasting(text)) / 1000 + AFTERMATH_S)),
  )

/** `node syncs 3m` lasts, in milliseconds. */
const lasting = (text: string): number => parseDuration(text.split(/\s+/).at(-1) ?? '') ?? 0

/** `name{labels} value` lines by metric; the parts of a histogram belong to it. */
const linesByMetric = ({ text }: Exposition): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, name = ''] = /^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{| )/.exec(line) ?? []
    if (name in agentMetrics) found.set(name, [...(found.get(name) ?? []), line])
  }
  return found
}
