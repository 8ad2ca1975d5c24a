import { existsSync } from 'node:fs'
import { readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { agentMetrics } from '../../src/metrics.ts'
import { loadScenario, type Scenario } from '../../simulator/scenario/scenario.ts'
import { openBrowser, probeChromium } from '../page/browser.ts'
import { checkMetrics } from '../support/prometheus.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Exposition, parseExposition } from '../support/scrape.ts'
import { leaksOf, PLANTED } from '../support/secrets.ts'
import { differencesFromPrometheus } from './agreement.ts'
import { type Play, play } from './play.ts'
import { createPageRecorder, type PageRecorder } from './status-page.ts'
import { MARKS } from './surfaces.ts'
import { COMMANDS_S, GOLDEN_S, LONGEST_S } from './timeline.ts'
import { UNCHANGED } from './unchanged-metrics.ts'

/** By then every collector has read once: a series that appears or vanishes later has changed. */
const WARM_S = 20
/** Those whose commands are golden. */
const WITH_COMMANDS = ['healthy', 'stalled', 'panic', 'statesync', 'storage-full', 'isolated']

/** Where a cause and its consequences page. */
const FIRST_PAGES = [
  ['diverged', ['ChainStateDiverged', 'ChainBlockStalled', 'ChainBehind']],
  ['finality-stalled', ['ChainFinalityStalled']],
  ['network-halted', ['ChainNetworkHalted', 'ChainBlockStalled']],
] as const

const leaks = leaksOf(PLANTED)
const FORMATS_WITH_SECRETS = ['ledger-tail', 'consensus-log', 'execution-log', 'prometheus']

type Coverage = z.output<typeof coverageSchema>
const coverageSchema = z.object({
  /** Metric → a scenario in which its series changed. */
  moved: z.record(z.string(), z.string()),
  /** Metric → a scenario in which it had a series. */
  present: z.record(z.string(), z.string()),
  most: z.object({ series: z.number(), scenario: z.string() }),
})

/**
 * Plays each scenario once: the whole agent with the configuration of the demo on a simulated host with secrets planted in
 * it. `part` of `parts` runs in one worker, the others next to it; the part that ends last holds the coverage of all
 * against the catalogue. As one part, plays end after the commands and are not compared with Prometheus or drawn in Chromium.
 */
export const simulate = async (scenarios: readonly Scenario[], { part = 0, parts = 1 } = {}): Promise<void> => {
  const own: Coverage = { moved: {}, present: {}, most: { series: 0, scenario: '' } }
  const isWhole = parts > 1
  const withBrowser = isWhole ? await requireRealPart('Chromium', probeChromium) : undefined
  let browser: Browser | undefined
  let recordPage: PageRecorder | undefined
  const playOne = async (scenario: Scenario, seconds?: number): Promise<Play> => {
    const turn = scenarios.findIndex(({ name }) => name === scenario.name)
    return play(scenario, { seconds, isWhole, recordPage: async (host) => recordPage?.(host, turn) })
  }
  // Played here, not read from its golden file: a run that updates the files would compare with the one it replaces.
  let healthy: Play
  beforeAll(async () => {
    if (withBrowser === describe) {
      browser = await openBrowser()
      recordPage = await createPageRecorder(browser)
    }
    healthy = await playOne(await loadScenario('healthy'), isWhole ? LONGEST_S : COMMANDS_S)
  })
  afterAll(async () => browser?.close())
  describe.each(scenarios.filter((_, index) => index % parts === part))('$name', (scenario) => {
    let played: Play
    test('plays to its end', async () => {
      played = scenario.name === 'healthy' ? healthy : await playOne(scenario, isWhole ? undefined : COMMANDS_S)
      cover(scenario.name, played, own)
      expect(played.looks.length).toBeGreaterThan(10)
    })
    test('exports the golden metrics', async () => {
      const isBase = scenario.name === 'healthy'
      const golden = goldenMetrics(goldenPage(played), isBase ? undefined : goldenPage(healthy))
      await expect(golden, UPDATE).toMatchFileSnapshot(`golden/${scenario.name}.txt`)
    })
    test('a restart is safe, or prevented by the conditions that the scenario names', () => {
      const { isSafe, summary, checks } = restartSchema.parse(JSON.parse(played.restart))
      const failed = checks
        .filter(({ state, isRequired }) => isRequired && state !== 'ok')
        .map(({ name, state }) => (state === 'unknown' ? `${name} unknown` : name))
      const obstacles = isSafe === null ? ['fault'] : failed
      expect({ obstacles, isSafe: isSafe ?? false }, summary).toEqual({
        obstacles: scenario.restart,
        isSafe: scenario.restart.length === 0,
      })
    })
    test('has no internal failure, and logs changes', () => {
      for (const { metrics } of played.looks) expect(metrics).not.toMatch(/chain_agent_internal_failures_total [1-9]/)
      const changes = played.log.flatMap((line) => changeSchema.safeParse(JSON.parse(line)).data ?? [])
      expect(changes.length).toBeGreaterThan(10)
    })
    // Where it is not read, it cannot be found either.
    test.each(scenario.name === 'healthy' ? FORMATS_WITH_SECRETS : [])('reads planted text: %s', (format) => {
      expect(played.looks.at(-1)?.metrics).toMatch(
        new RegExp(String.raw`\nchain_agent_lines_total\{format="${format}",result="unparsed"\} [1-9]`),
      )
    })
    test('emits no planted secret', () => {
      expect(leaks(played.emitted)).toEqual([])
    })

    test.each(WITH_COMMANDS.filter((name) => name === scenario.name))(
      '%s: commands have the golden output and exit codes',
      async () => {
        await expect(played.commands, UPDATE).toMatchFileSnapshot(`golden/commands/${scenario.name}.txt`)
      },
    )

    if (!isWhole) return
    testSurfaces(scenario, () => ({ played, healthy }))
    test('fires the same alerts in the agent as in Prometheus, next to a healthy node of the same name', async () => {
      expect(await differencesFromPrometheus(played.looks, healthy.looks)).toBe('')
    })
    test('exports metrics of which promtool does not complain', async () => {
      const last = played.looks.at(-1)?.metrics ?? ''
      expect([await checkMetrics(goldenPage(played)), await checkMetrics(last)]).toEqual(['', ''])
    })
    withBrowser?.('has a status page that', () => {
      test('fits at each width', () => {
        const wider = Object.entries(played.page?.overflow ?? {}).filter(([, pixels]) => pixels !== 0)
        expect([wider, Object.keys(played.page?.overflow ?? {}).length]).toEqual([[], 3])
      })
      test('is accessible at one width in one colour scheme', () => {
        expect(played.page?.violations).toEqual([])
      })
      test('has the sentence of status', () => {
        expect(played.page?.headline).toBe(played.page?.status)
      })
      test('has the same content without JavaScript', () => {
        expect(played.page?.text.length).toBeGreaterThan(1000)
        expect(played.page?.text).toBe(played.page?.textWithoutJavaScript)
      })
      test('is silent', () => {
        expect(played.page?.complaints).toEqual([])
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

/** What operators see of a fault: on all surfaces the same, in the bundle, and among the changes. */
const testSurfaces = (scenario: Scenario, plays: () => { readonly played: Play; readonly healthy: Play }): void => {
  test('no sentence of the agent is redacted, and each JSON of its bundle can be read', () => {
    const { played, healthy } = plays()
    // On each host the same planted secrets are redacted.
    const planted = healthy.bundle?.redacted ?? []
    expect(played.bundle?.json).toBe(3)
    expect(played.bundle?.redacted.filter((line) => !planted.includes(line))).toEqual([])
    expect(played.moments.flatMap(({ outputs }) => outputs.filter((output) => MARKS.test(output)))).toEqual([])
  })
  test.each(scenario.steps.slice(0, 1))('all surfaces agree at each moment', () => {
    const { moments, contradictions } = plays().played
    expect(moments.length).toBeGreaterThan(2)
    expect(moments.flatMap(({ second, different }) => different.map((one) => `${second} s: ${one}`))).toEqual([])
    expect(contradictions.filter((one) => one !== '')).toEqual([])
  })
  test.each(scenario.steps.slice(0, 1))('the same number is the same on all surfaces', () => {
    const { moments } = plays().played
    expect(moments.flatMap(({ second, contradictory }) => contradictory.map((one) => `${second} s: ${one}`))).toEqual(
      [],
    )
  })
  test('no output advises both a restart and none', () => {
    const contradictory = plays().played.moments.flatMap(({ second, outputs }) =>
      outputs
        .filter((output) => /RECOVERY: (?!none|upgrade|migrate)/.test(output) && output.includes('not now'))
        .map((output) => `${second} s: ${output}`),
    )
    expect(contradictory).toEqual([])
  })
  test.each(scenario.causes.slice(0, 1))('its cause is first: %s', () => {
    const { timeline, moments } = plays().played
    expect(scenario.causes).toContain(moments.find(({ second }) => second === timeline.cause)?.cause)
  })
  test.each(FIRST_PAGES.filter(([name]) => name === scenario.name))('%s: pages in this order', (_, expected) => {
    expect(plays().played.critical).toEqual(expected)
  })
}

const UPDATE = 'if the change is meant: npm run golden, and review the diff'

const goldenPage = ({ looks }: Play): string => looks.find(({ second }) => second === GOLDEN_S)?.metrics ?? ''

const restartSchema = z.object({
  isSafe: z.boolean().nullable(),
  summary: z.string(),
  checks: z.array(z.object({ name: z.string(), state: z.string(), isRequired: z.boolean() })),
})

const cover = (scenario: string, { looks }: Play, own: Coverage): void => {
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

const seriesOf = ({ text }: Exposition): readonly string[] => text.split('\n').filter((line) => /^[a-z]/.test(line))

/** `name{labels} value` lines by metric; the parts of a histogram belong to it. */
const linesByMetric = ({ text }: Exposition): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, name = ''] = /^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{| )/.exec(line) ?? []
    if (name in agentMetrics) found.set(name, [...(found.get(name) ?? []), line])
  }
  return found
}

const BUDGET = 950

/** A source that no simulated host has is in the test that the reason names. */
const isTestedIn = (reason = ''): boolean => existsSync(/\btest\/\S+\.test\.ts\b/.exec(reason)?.[0] ?? 'none')

/**
 * Every metric occurs, and has more than one value in some scenario or a reason in the list; the limit of series per node.
 */
const expectWholeCatalogue = (parts: readonly Coverage[]): void => {
  const reasons = new Map(Object.entries(UNCHANGED))
  const list = 'test/scenarios/unchanged-metrics.ts'
  const isIn = (name: string, of: 'moved' | 'present') => parts.some((part) => name in part[of])
  const duties = Object.keys(agentMetrics).flatMap((name) => {
    const reason = reasons.get(name)
    if (!isIn(name, 'present'))
      return isTestedIn(reason)
        ? []
        : [
            `${name}: simulator/ must simulate its source, so that it occurs, or the reason in ${list} must name its test`,
          ]
    if (isIn(name, 'moved'))
      return reason === undefined ? [] : [`${name}: a scenario changes it; remove it from ${list}`]
    const way = 'change it in a file of scenarios/ (scenarios/README.md has the directives of simulator/)'
    return reason === undefined ? [`${name}: ${way}, or give a reason in ${list}`] : []
  })
  expect(duties).toEqual([])
  const [most] = parts.map((part) => part.most).toSorted((a, b) => b.series - a.series)
  console.log(`at most ${most?.series} series, in the scenario ${most?.scenario}`)
  expect(most?.series).toBeGreaterThan(500)
  expect(most?.series).toBeLessThanOrEqual(BUDGET)
}

/** Of the process and of real time, not of the simulated node. */
const NOT_SIMULATED = /^(?:process|nodejs)_|_duration_seconds|_event_loop_delay_/
/** Of the machine that runs the tests, or of the moment at which the collector read the files of the simulated host. */
const OF_THE_MACHINE =
  /^chain_host_(?:cpu_|drive_|file_modified|filesystem_|nvme_temperature_|directory_|pressure_|udp_received_)/

/**
 * A page of `/metrics` in a form that can be reviewed: a line per metric with the number of its series and the sum of
 * their values (of a histogram, all its buckets). Compared with `healthy`, another page: only the lines that differ.
 */
const goldenMetrics = (page: string, healthy?: string): string => {
  const lines = summaryOf(page)
  const known = healthy === undefined ? [] : summaryOf(healthy)
  const present = new Set(lines.map(nameOf))
  const absent = known.map(nameOf).filter((name) => !present.has(name))
  const changed = lines.filter((line) => !known.includes(line))
  return `${[...changed, ...absent.map((name) => `${name} absent`)].toSorted().join('\n')}\n`
}

const nameOf = (line: string): string => line.split(' ')[0] ?? ''

const summaryOf = (metrics: string): readonly string[] => {
  const families = new Map<string, { series: number; sum: number }>()
  for (const line of metrics.split('\n')) {
    const [, name = '', value = ''] = /^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{.*\})? (\S+)/.exec(line) ?? []
    if (name === '' || NOT_SIMULATED.test(line)) continue
    const { series, sum } = families.get(name) ?? { series: 0, sum: 0 }
    families.set(name, { series: series + 1, sum: sum + Number(value) })
  }
  return [...families]
    .map(([name, { series, sum }]) =>
      OF_THE_MACHINE.test(name)
        ? `${name} ${series} ${sum > 0 ? 'above 0' : '0'}`
        : `${name} ${series} ${Number(sum.toPrecision(9))}`,
    )
    .toSorted()
}
