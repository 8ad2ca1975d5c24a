import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Host } from '../support/host.ts'
import { must } from '../support/programs.ts'

const answerSchema = z.object({
  verdict: z.object({ word: z.string(), sentence: z.string() }),
  recovery: z.object({ path: z.string(), summary: z.string() }),
})
const recovered = answerSchema.omit({ recovery: true }).extend({ path: z.string(), summary: z.string() })
const overview = answerSchema.extend({ findings: z.array(z.object({ name: z.string() })) })

/** The word, the sentence and the recovery of one surface. Durations and heights differ by the second of the request. */
const textOf = ({ verdict: { word, sentence }, recovery: { path, summary } }: z.output<typeof answerSchema>): string =>
  `${word}: ${sentence} ${path}: ${summary}`.replaceAll(/\d[\d,.]*(?: (?:ms|s|min|h|d)\b(?: \d+)?)*/g, '#')

export interface Moment {
  readonly second: number
  /** The surfaces that differ from the page both before and after them, with their answers. */
  readonly different: readonly string[]
  /** The first cause; undefined if there is none. */
  readonly cause: string | undefined
  /** The texts of `status`, `check` and `recover`. */
  readonly outputs: readonly string[]
}

/** Asks page, API, metrics, `status`, `check` and `recover` at one moment. */
export const askSurfaces = async (host: Host, second: number): Promise<Moment> => {
  const page = async () => overview.parse(JSON.parse(await host.page('/api/v1/overview')))
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
  return {
    second,
    cause: after.findings[0]?.name,
    outputs,
    different: answers
      .filter(([, text]) => !allowed.includes(text))
      .map(([name, text]) => `${name}: ${text} — page: ${textOf(before)} / ${textOf(after)}`),
  }
}

export const MARKS = /\((?:redacted|hex digits|long word)\)/

export interface Bundle {
  /** Members that are JSON, without the incidents. */
  readonly json: number
  /** Lines with something redacted, without texts of the node; digits are number signs. */
  readonly redacted: readonly string[]
  readonly text: string
}

export const bundleOf = async (host: Host): Promise<Bundle> => {
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
      .filter((line) => MARKS.test(line) && !/^ *"(?:output|unparsed)": /.test(line))
      .map((line) => line.replaceAll(/\d+/g, '#')),
    text: texts.join('\n'),
  }
}

const page = overview.omit({ findings: true }).extend({
  figures: z.array(z.object({ name: z.string(), value: z.string().nullable(), tone: z.string().nullable() })),
})

/** How the word, the sentence or the recovery of the page contradicts its figures; empty if they agree. */
export const contradictionIn = (text: string): string => {
  const { verdict, recovery, figures } = page.parse(JSON.parse(text))
  const isBad = figures.some(({ tone }) => tone === 'bad')
  const isDown = figures.some(({ name, value }) => name === 'services' && value !== 'none')
  const isContradictory =
    (verdict.word === 'OK' && recovery.path !== 'none') ||
    (verdict.word !== 'CRITICAL' && isBad) ||
    isDown !== / (?:is|are) down\b/.test(` ${verdict.sentence}`)
  return isContradictory ? `${verdict.word}: ${verdict.sentence} ${recovery.path}; ${JSON.stringify(figures)}` : ''
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
