import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { hasSeverity } from '../../src/collectors/severity.ts'
import { agentMetrics } from '../../src/metrics.ts'
import { parseDuration } from '../../src/core/units.ts'
import type { Scenario } from '../../src/simulator/scenario/scenario.ts'
import { listScenarios } from '../../src/simulator/scenario/scenarios.ts'
import { rehearse } from '../support/rehearsal.ts'
import type { Exposition } from '../support/scrape.ts'
import { expectWholeCatalogue } from './catalogue.ts'

/** By then everything has been asked once: what appears later, or vanishes, has changed. */
const WARM_S = 20
/** How long after the last line of a scenario we go on looking. */
const AFTERMATH_S = 75
const LONGEST_S = 260

export type Seen = z.output<typeof schema>
const schema = z.object({
  /** Metric → a scenario in which it moved. */
  moved: z.record(z.string(), z.string()),
  /** Metric → a scenario in which it was there. */
  present: z.record(z.string(), z.string()),
  most: z.object({ series: z.number(), scenario: z.string() }),
})

/**
 * Every second scenario. A rehearsal keeps one core busy, so the halves run beside each other; the
 * one that ends last holds what both have seen against the catalogue.
 */
export const rehearseHalf = async (half: 0 | 1): Promise<void> => {
  const scenarios = (await listScenarios()).filter((_, index) => index % 2 === half)
  const own: Seen = { moved: {}, present: {}, most: { series: 0, scenario: '' } }

  describe.each(scenarios)('$name', (scenario) => {
    test('is rehearsed without a bug of ours', { timeout: 120_000 }, async () => {
      await expectNoBug(scenario, own)
    })
  })

  test('what both halves have seen is the whole catalogue', async () => {
    const folder = inject('rehearsal')
    const file = join(folder, `${half}.json`)
    await writeFile(`${file}.new`, JSON.stringify(own))
    await rename(`${file}.new`, file)
    // Written first, read then: whoever is the last sees both.
    const files = (await readdir(folder)).filter((name) => name.endsWith('.json'))
    expect(files).toContain(`${half}.json`)
    if (files.length < 2) return
    const both = await Promise.all(
      files.map(async (name) =>
        schema.parse(JSON.parse(await readFile(join(folder, name), 'utf8'))),
      ),
    )
    expectWholeCatalogue(both)
  })
}

const expectNoBug = async (scenario: Scenario, { moved, present, most }: Seen): Promise<void> => {
  const logged: string[] = []
  const log = pino(
    { base: null },
    new Writable({
      write: (chunk: Buffer, _, done) => {
        logged.push(chunk.toString())
        done()
      },
    }),
  )
  const looks = await rehearse(scenario, { seconds: secondsOf(scenario), log })
  const changes = logged.flatMap((line) => changeSchema.safeParse(JSON.parse(line)).data ?? [])
  expect(changes.length).toBeGreaterThan(10)
  expect(changes.filter((change) => !hasSeverity(change))).toEqual([])
  const seen = new Map<string, Set<string>>()
  for (const { second, seen: exposition } of looks) {
    const series = seriesOf(exposition).length
    if (series > most.series) Object.assign(most, { series, scenario: scenario.name })
    const lines = linesByMetric(exposition)
    for (const name of lines.keys()) Object.assign(present, { [name]: scenario.name })
    if (second < WARM_S) continue
    for (const name of Object.keys(agentMetrics)) {
      seen.set(name, (seen.get(name) ?? new Set()).add((lines.get(name) ?? []).join('\n')))
    }
    // A bug of ours is told apart from whatever is wrong with the node.
    expect(exposition.text).not.toMatch(
      /chain_agent_collector_failures_total\{[^}]*kind="internal"\} [1-9]/,
    )
  }
  for (const [name, values] of seen) {
    if (values.size > 1) Object.assign(moved, { [name]: scenario.name })
  }
}

/** A log line about a subject. */
const changeSchema = z.object({ collector: z.string(), subject: z.string(), to: z.string() })

/** Without those of holders of tokens, of which each operator has as many as he names. */
const seriesOf = ({ text }: Exposition): readonly string[] =>
  text
    .split('\n')
    .filter((line) => /^[a-z]/.test(line) && !/^chain_token_|collector="tokens"/.test(line))

const secondsOf = ({ steps }: Scenario): number =>
  Math.min(
    LONGEST_S,
    Math.max(0, ...steps.map(({ afterMs, text }) => (afterMs + lasting(text)) / 1000)) +
      AFTERMATH_S,
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
