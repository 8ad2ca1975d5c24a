import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { installed } from '../../test/support/installed.ts'
import { must } from '../../test/support/programs.ts'

const HERE = import.meta.dirname
const SIZES = (process.env['LOGS'] ?? '10000000').split(',').map(Number)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)

interface Engine {
  readonly name: string
  /** The file in engines/. */
  readonly file: string
  /** Its database file; absent if it reads the file of another engine. */
  readonly database?: string
  readonly node?: string
}

const NODE_22 = join(HERE, 'node_modules', 'node22', 'bin', 'node')

const ENGINES: readonly Engine[] = [
  { name: 'chain-agent store, all pages', file: 'log-store', database: 'duckdb/duckdb/logs.duckdb' },
  { name: 'plain DuckDB, one statement, rows of its values', file: 'plain' },
  { name: 'plain DuckDB, one statement, rows of hex', file: 'plain-hex' },
  // Its binary requires a later Node.js than this package.
  { name: 'better-sqlite3 with an index', file: 'sqlite', database: 'logs.sqlite', node: NODE_22 },
]

const fillSchema = z.object({ seconds: z.number(), longest: z.number(), peakBytes: z.number() })
const askSchema = z.object({
  answers: z.array(
    z.object({
      name: z.string(),
      milliseconds: z.number(),
      /** CPU time of all threads, in milliseconds: less affected by other load than elapsed time. */
      cpu: z.number(),
      rows: z.number(),
      checksum: z.string(),
    }),
  ),
  peakBytes: z.number(),
})

let folder = ''
beforeAll(async () => {
  // One engine requires a later Node.js, which is installed next to it.
  await installed(HERE, ['--engine-strict=false'])
  folder = await mkdtemp(join(tmpdir(), 'log-store-'))
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const work = async ({ file, node }: Engine, what: string, place: readonly string[]): Promise<unknown> => {
  const args = ['--expose-gc', join(HERE, 'worker.mjs'), file, what, ...place]
  return JSON.parse(await must(node ?? process.execPath, args, { timeout: 3_600_000 }))
}

for (const logs of SIZES) {
  test(`a store of ${logs} logs`, { timeout: 7_200_000 }, async () => {
    const place = [folder, `${logs}`]
    const filled: string[] = []
    for (const engine of ENGINES) {
      if (engine.database === undefined) continue
      const { seconds, longest, peakBytes } = fillSchema.parse(await work(engine, 'fill', place))
      const { size } = await stat(join(folder, engine.database))
      filled.push(
        row([
          engine.name,
          (logs / seconds / 1000).toFixed(0),
          longest.toFixed(0),
          (size / logs).toFixed(1),
          (peakBytes / 1e6).toFixed(0),
        ]),
      )
    }
    console.log(
      [
        row(['filled', 'thousand logs/s', 'longest, ms a 100,000 logs', 'bytes a log', 'peak RSS, MB']),
        row(['---', '---', '---', '---', '---']),
        ...filled,
      ].join('\n'),
    )
    const questions = await interleaved(place)
    for (const [name, { checksums }] of questions) expect([...checksums], name).toHaveLength(1)
    console.log(table(questions, logs))
    await rm(join(folder, 'duckdb'), { recursive: true })
    await rm(join(folder, 'logs.sqlite'))
  })
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

interface Answers {
  readonly rows: number
  /** Engine → elapsed milliseconds and CPU milliseconds of each round. */
  readonly took: Map<string, number[]>
  readonly cpu: Map<string, number[]>
  readonly checksums: Set<string>
}

/** Each in its own process, one after another, in rounds. */
const interleaved = async (place: readonly string[]): Promise<ReadonlyMap<string, Answers>> => {
  const questions = new Map<string, Answers>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const engine of ENGINES) {
      const { answers } = askSchema.parse(await work(engine, 'ask', place))
      for (const { name, milliseconds, cpu, rows, checksum } of answers) {
        const question: Answers = questions.get(name) ?? { rows, took: new Map(), cpu: new Map(), checksums: new Set() }
        questions.set(name, question)
        question.took.set(engine.file, [...(question.took.get(engine.file) ?? []), milliseconds])
        question.cpu.set(engine.file, [...(question.cpu.get(engine.file) ?? []), cpu])
        question.checksums.add(checksum)
      }
    }
  }
  return questions
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN

const table = (questions: ReadonlyMap<string, Answers>, logs: number): string => {
  const lines = [...questions].map(([name, { rows, took, cpu }]) => {
    const of = (file: string): number => median(took.get(file) ?? [])
    const used = (file: string): number => median(cpu.get(file) ?? [])
    const ratio = (file: string): string =>
      `${(of('log-store') / of(file)).toFixed(2)} (${(used('log-store') / used(file)).toFixed(2)})`
    return row([
      name,
      `${rows}`,
      ...ENGINES.map(({ file }) => `${of(file).toFixed(1)} (${used(file).toFixed(1)})`),
      ratio('plain'),
      ratio('plain-hex'),
      ratio('sqlite'),
    ])
  })
  const head = [
    `${logs} logs; elapsed ms (CPU ms)`,
    'rows',
    ...ENGINES.map(({ name }) => name),
    'chain-agent ÷ plain',
    'chain-agent ÷ plain hex',
    'chain-agent ÷ SQLite',
  ]
  return [row(head), row(head.map(() => '---')), ...lines].join('\n')
}
