import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Host } from '../support/host.ts'
import { must } from '../support/programs.ts'
import {
  numbersOfMetrics,
  numbersOfPage,
  numbersOfRecover,
  numbersOfRestartWindow,
  numbersOfStatus,
  numbersThatDiffer,
} from './numbers.ts'

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
  /** The numbers that differ from those of the page, and answers that contradict each other. */
  readonly contradictory: readonly string[]
  /** The first cause; undefined if there is none. */
  readonly cause: string | undefined
  /** The texts of `status`, `check` and `recover`. */
  readonly outputs: readonly string[]
}

const analysed = z.object({ diagnosis: answerSchema })
const restarted = answerSchema.extend({ isSafe: z.boolean().nullable() })

/**
 * Asks page, API, metrics, `status`, `check` and `recover` at one moment; with `isWhole` also `restart-window`, `monlog`
 * and `duties`. The clock of the host moves while a command runs: each answer is compared with the page before and after.
 */
export const askSurfaces = async (host: Host, second: number, isWhole: boolean): Promise<Moment> => {
  const ask = async (...words: readonly string[]) => (await host.run(words)).out
  const pages = [await host.page('/api/v1/overview')]
  const outputs: string[] = []
  const json: Record<string, string> = {}
  for (const command of ['status', 'check', 'recover']) {
    outputs.push(await ask(command))
    json[command] = await ask(command, '--json')
  }
  for (const command of isWhole ? ['restart-window', 'monlog', 'duties'] : []) {
    json[command] = await ask(command, '--json')
  }
  pages.push(await host.page('/api/v1/overview'))
  const metrics = await host.page('/metrics')
  const overviews = pages.map((text) => overview.parse(JSON.parse(text)))
  const allowed = overviews.flatMap((one) => [textOf(one), one.verdict.word])
  const answers = [
    ...Object.entries(json).flatMap(([name, text]) =>
      name === 'duties' ? [] : [[name, textOf(answerIn(name, JSON.parse(text)))] as const],
    ),
    ['metrics', stateOf(metrics)] as const,
  ]
  const { status = '', recover = '', duties, 'restart-window': restart } = json
  return {
    second,
    cause: overviews.at(-1)?.findings[0]?.name,
    outputs,
    different: answers
      .filter(([, text]) => !allowed.includes(text))
      .map(([name, text]) => `${name}: ${text} — page: ${overviews.map(textOf).join(' / ')}`),
    contradictory: [
      ...numbersThatDiffer(pages.map(numbersOfPage), [
        { name: 'status', numbers: numbersOfStatus(status) },
        { name: 'recover', numbers: numbersOfRecover(recover) },
        { name: 'metrics', numbers: numbersOfMetrics(metrics) },
        ...(restart === undefined ? [] : [{ name: 'restart-window', numbers: numbersOfRestartWindow(restart) }]),
      ]),
      ...(restart === undefined ? [] : restartContradictions(pages, { status, recover, restart })),
      // It has no output where the journal cannot be read.
      ...(duties === undefined || duties === '' ? [] : dutiesContradictions(metrics, duties)),
      ...messageContradictions(metrics, recover),
    ],
  }
}

const answerIn = (command: string, document: unknown): z.output<typeof answerSchema> => {
  if (command === 'recover') return fromRecover(recovered.parse(document))
  return command === 'monlog' ? analysed.parse(document).diagnosis : answerSchema.parse(document)
}

const planned = z.object({ sections: z.object({ restart: z.object({ safe: z.boolean().nullable() }) }) })
const advised = z.object({ restart: z.object({ isSafe: z.boolean() }).nullable() })
const summaries = z.object({ sections: z.array(z.object({ name: z.string(), summary: z.string().nullable() })) })

interface RestartAnswers {
  readonly status: string
  readonly recover: string
  readonly restart: string
}

/** A planned restart is safe, not safe or not evaluated on each surface. */
const restartContradictions = (
  pages: readonly string[],
  { status, recover, restart }: RestartAnswers,
): readonly string[] => {
  const kindOf = (isSafe: boolean | null): string => (isSafe === null ? 'not evaluated' : isSafe ? 'safe' : 'not now')
  const shown = pages.map(
    (text) => summaries.parse(JSON.parse(text)).sections.find(({ name }) => name === 'restart')?.summary ?? '',
  )
  const kinds = [
    ['status', kindOf(planned.parse(JSON.parse(status)).sections.restart.safe)],
    ['recover', kindOf(advised.parse(JSON.parse(recover)).restart?.isSafe ?? null)],
    ['restart-window', kindOf(restarted.parse(JSON.parse(restart)).isSafe)],
  ] as const
  return kinds.flatMap(([name, kind]) =>
    shown.some((text) => text.startsWith(kind)) ? [] : [`${name}: restart ${kind}, page: ${shown.join(' and ')}`],
  )
}

const led = z.object({ toAt: z.string(), unknownSinceAt: z.string().nullable(), covered: z.unknown() })

/** Half a minute after the last entry of the ledger stream, the outcome of own rounds is not known up to now. */
const dutiesContradictions = (metrics: string, duties: string): readonly string[] => {
  const [, entryAt = 'NaN'] =
    /^chain_agent_journal_last_entry_timestamp_seconds\{service="ledger-tail"\} (\S+)$/m.exec(metrics) ?? []
  const { toAt, unknownSinceAt, covered } = led.parse(JSON.parse(duties))
  const age = Date.parse(toAt) / 1000 - Number(entryAt)
  return age > 30 && covered !== null && unknownSinceAt === null
    ? [`duties: known up to now, metrics: the last entry of the stream is ${age} s old`]
    : []
}

const next = z.object({ next: z.object({ action: z.string() }).nullable() })

/** The message of an alert has the action of the metric. */
const messageContradictions = (metrics: string, recover: string): readonly string[] => {
  const [, action = null] = /^chain_node_recovery_info\{[^}]*action="([^"]*)"/m.exec(metrics) ?? []
  const advice = next.parse(JSON.parse(recover)).next?.action ?? null
  return action === advice ? [] : [`message: ${action}, recover: ${advice}`]
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

const keyFigures = z.object({
  figures: z.array(z.object({ name: z.string(), value: z.string().nullable(), tone: z.string().nullable() })),
})
const page = overview.omit({ findings: true }).extend(keyFigures.shape)

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
