import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listScenarios, type Scenario } from '../../simulator/scenario/scenario.ts'
import { type Host, startHost } from '../support/host.ts'
import { must } from '../support/programs.ts'

/** Seconds after the fault, and after the last line of the scenario. */
const AFTER_FAULT_S = [5, 15, 40, 120]
const AFTER_END_S = 60
const LONGEST_S = 300

const answerSchema = z.object({
  verdict: z.object({ word: z.string(), sentence: z.string() }),
  recovery: z.object({ path: z.string(), summary: z.string() }),
})
const recovered = answerSchema.omit({ recovery: true }).extend({ path: z.string(), summary: z.string() })
const overview = answerSchema.extend({ findings: z.array(z.object({ name: z.string() })) })

/** The word, the sentence and the recovery of one surface. Durations and heights differ by the second of the request. */
const textOf = ({ verdict: { word, sentence }, recovery: { path, summary } }: z.output<typeof answerSchema>): string =>
  `${word}: ${sentence} ${path}: ${summary}`.replaceAll(/\d[\d,.]*(?: (?:ms|s|min|h|d)\b(?: \d+)?)*/g, '#')

interface Moment {
  readonly second: number
  /** The surfaces that differ from the page both before and after them, with their answers. */
  readonly different: readonly string[]
  /** The first cause; undefined if there is none. */
  readonly cause: string | undefined
  /** The texts of `status`, `check` and `recover`. */
  readonly outputs: readonly string[]
}

/** The scenarios with a fault, of which `part` of `parts` are played by one worker. */
export const compareSurfaces = async (part: number, parts: number): Promise<void> => {
  const scenarios = (await listScenarios()).filter(({ steps }) => steps.length > 0)
  describe.each(scenarios.filter((_, index) => index % parts === part))('$name', (scenario) => {
    let moments: readonly Moment[] = []
    let bundle: Bundle
    beforeAll(async () => {
      ;({ moments, bundle } = await askSurfaces(scenario))
    })
    test('no sentence of the agent is redacted, and each JSON of its bundle can be read', () => {
      expect(bundle.json).toBe(3)
      expect(bundle.redacted).toEqual([])
      expect(moments.flatMap(({ outputs }) => outputs.filter((output) => MARKS.test(output)))).toEqual([])
    })
    test('all surfaces agree at each moment', () => {
      expect(moments.length).toBeGreaterThan(2)
      expect(moments.flatMap(({ second, different }) => different.map((one) => `${second} s: ${one}`))).toEqual([])
    })
    test('no output advises both a restart and none', () => {
      const contradictory = moments.flatMap(({ second, outputs }) =>
        outputs
          .filter((output) => /RECOVERY: (?!none|upgrade|migrate)/.test(output) && output.includes('not now'))
          .map((output) => `${second} s: ${output}`),
      )
      expect(contradictory).toEqual([])
    })
    test.each(scenario.causes.length === 0 ? [] : [DETECTED_S.get(scenario.name) ?? CAUSE_S])(
      'its cause is first %i s after the fault',
      (after) => {
        expect(scenario.causes).toContain(moments.find(({ second }) => second === after)?.cause)
      },
    )
  })
}

const MARKS = /\((?:redacted|hex digits|long word)\)/

interface Bundle {
  /** Members that are JSON, without the incidents. */
  readonly json: number
  /** Lines with something redacted, without logs and outputs of the node. */
  readonly redacted: readonly string[]
}

const bundleOf = async (host: Host): Promise<Bundle> => {
  const file = join(host.directory, 'bundle.tar.gz')
  await host.run(['bundle', '--no-logs', '--output', file])
  await must('tar', ['-xzf', file, '-C', host.directory])
  const folder = (await readdir(host.directory)).find((name) => name.startsWith('chain-agent-bundle-')) ?? ''
  const entries = await readdir(join(host.directory, folder), { recursive: true, withFileTypes: true })
  const members = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const texts = await Promise.all(members.map(async (member) => readFile(member, 'utf8')))
  const documents = members.flatMap((name, at) => (name.endsWith('.json') ? [{ name, text: texts[at] ?? '' }] : []))
  for (const { text } of documents) JSON.parse(text)
  // The simulated host is in a folder with a random name.
  const random = join(dirname(host.directory), '(long word)')
  return {
    json: documents.filter(({ name }) => !name.includes('/incidents/')).length,
    redacted: texts
      .flatMap((text) => text.replaceAll(random, '').split('\n'))
      .filter((line) => MARKS.test(line) && !/^ *"output": /.test(line)),
  }
}

/** By then most failures that have a cause are detected. */
const CAUSE_S = 40
/** The others: the height, or the finalized one, has not changed for a minute. */
const DETECTED_S: ReadonlyMap<string, number> = new Map([
  ['network-halted', 120],
  ['finality-stalled', 120],
])

/** Asks page, API, metrics, `status`, `check` and `recover` at each moment of a scenario. */
const askSurfaces = async (scenario: Scenario): Promise<{ moments: readonly Moment[]; bundle: Bundle }> => {
  const times = scenario.steps.map(({ afterMs }) => afterMs / 1000)
  const fault = Math.min(...times)
  const moments = [...AFTER_FAULT_S.map((after) => fault + after), Math.max(...times) + AFTER_END_S]
    .filter((second) => second <= LONGEST_S)
    .toSorted((a, b) => a - b)
  const host = await startHost({ scenario: scenario.name, second: 0 })
  const page = async () => overview.parse(JSON.parse(await host.page('/api/v1/overview')))
  const found: Moment[] = []
  try {
    for (let second = 1; second <= Math.max(...moments); second += 1) {
      await host.second()
      if (!moments.includes(second)) continue
      const before = await page()
      const outputs: string[] = []
      const answers: [string, string][] = []
      for (const command of ['status', 'check', 'recover']) {
        outputs.push((await host.run([command])).out)
        const json: unknown = JSON.parse((await host.run([command, '--json'])).out)
        const answer = command === 'recover' ? fromRecover(recovered.parse(json)) : answerSchema.parse(json)
        answers.push([command, textOf(answer)])
      }
      const after = await page()
      answers.push(['metrics', stateOf(await host.page('/metrics'))])
      const allowed = [before, after].flatMap((one) => [textOf(one), one.verdict.word])
      found.push({
        second: second - fault,
        cause: after.findings[0]?.name,
        outputs,
        different: answers
          .filter(([, text]) => !allowed.includes(text))
          .map(([name, text]) => `${name}: ${text} — page: ${textOf(before)} / ${textOf(after)}`),
      })
    }
    return { moments: found, bundle: await bundleOf(host) }
  } finally {
    await host.close()
  }
}

const page = overview.omit({ findings: true }).extend({
  figures: z.array(z.object({ name: z.string(), value: z.string().nullable(), tone: z.string().nullable() })),
})

/** The seconds of two minutes at which the word, the sentence or the recovery of the page contradicts its figures. */
export const contradictionsOf = async (name: string): Promise<readonly string[]> => {
  const found: string[] = []
  const host = await startHost({ scenario: name, second: 0 })
  try {
    for (let second = 1; second <= 150; second += 1) {
      await host.second()
      if (second <= 30) continue
      const { verdict, recovery, figures } = page.parse(JSON.parse(await host.page('/api/v1/overview')))
      const bad = figures.filter(({ tone }) => tone === 'bad')
      const isDown = figures.some((one) => one.name === 'services' && one.value !== 'none')
      if (
        (verdict.word === 'OK' && recovery.path !== 'none') ||
        (verdict.word !== 'CRITICAL' && bad.length > 0) ||
        isDown !== verdict.sentence.includes('a required service is not running')
      )
        found.push(`${second} s: ${verdict.word}: ${verdict.sentence} ${recovery.path}; ${JSON.stringify(figures)}`)
    }
    return found
  } finally {
    await host.close()
  }
}

const fromRecover = ({ verdict, path, summary }: z.output<typeof recovered>): z.output<typeof answerSchema> => ({
  verdict,
  recovery: { path, summary },
})

const WORDS: Readonly<Record<string, string>> = { healthy: 'OK' }

/** The word of the state that `chain_node_health` has. */
const stateOf = (metrics: string): string => {
  const [, state = 'none'] = /^chain_node_health\{[^}]*state="([a-z]+)"[^}]*\} 1$/m.exec(metrics) ?? []
  return WORDS[state] ?? state.toUpperCase()
}
