import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { arch, constants, cpus, loadavg, release, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { must, run } from '../test/support/programs.ts'
import { sweepSandboxes } from '../test/support/sandbox.ts'
import { agent } from './agent.ts'
import { type Comparison, createCleanup, MAIN, ROOT } from './comparison.ts'
import { ingest } from './ingest/ingest.ts'
import { journal } from './journal.ts'
import { runComparison, type Section } from './report.ts'
import { startup } from './startup.ts'
import { store } from './store/store.ts'
import { decoders, tokens } from './tokens/tokens.ts'

const COMPARISONS: readonly Comparison[] = [startup, agent, journal, tokens, decoders, store, ingest]
const NAMES = COMPARISONS.map(({ name }) => name)
const DOCUMENT = 'docs/reference/benchmarks.md'
const USAGE = `Usage: npm run bench:report -- [options]

Compares chain-agent with other programs and writes a Markdown report. Progress is on stderr.

  --rounds N       rounds of each comparison; the report has median, minimum and maximum (default: 3)
  --only NAME      one comparison; may be repeated: ${NAMES.join(', ')}
  --large          histories of 10,000,000 logs (decoders: 1,000,000), not 1,000,000
  --output FILE    report; - is stdout (default: ${DOCUMENT}; with --only: -)
  --help           this text

Exit code: 0 measured; 1 a program failed or has another result than the others; 2 usage error.

Examples:
  npm run bench:report
  npm run bench:report -- --only tokens --rounds 5
`

interface BenchOptions {
  readonly comparisons: readonly Comparison[]
  readonly rounds: number
  readonly logs: number
  readonly output: string
}

/** `help` asks for the usage. Throws for arguments that are not valid. */
export const readOptions = (args: readonly string[]): BenchOptions | 'help' => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', multiple: true },
      large: { type: 'boolean', default: false },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const rounds = Number(values.rounds)
  if (!/^[1-9]\d{0,2}$/.test(values.rounds)) {
    throw new Error(`--rounds ${values.rounds}: expected a number from 1 to 999`)
  }
  const { only } = values
  const unknown = only?.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: expected one of ${NAMES.join(', ')}`)
  return {
    comparisons: COMPARISONS.filter(({ name }) => only?.includes(name) ?? true),
    rounds,
    logs: values.large ? 10_000_000 : 1_000_000,
    output: values.output ?? (only === undefined ? join(ROOT, DOCUMENT) : '-'),
  }
}

const log = (text: string): void => void process.stderr.write(`${text}\n`)

export const main = async (args: readonly string[]): Promise<number> => {
  try {
    const options = readOptions(args)
    if (options !== 'help') return await writeReport(options)
    process.stdout.write(USAGE)
    return 0
  } catch (error) {
    log(error instanceof Error ? error.message : String(error))
    log('npm run bench:report -- --help lists the options.')
    return 2
  }
}

const writeReport = async ({ comparisons, rounds, logs, output }: BenchOptions): Promise<number> => {
  await sweepSandboxes()
  const parent = join(ROOT, '.cache/bench')
  await mkdir(parent, { recursive: true })
  const before = await describeMachine()
  const sections: Section[] = []
  const cleanup = createCleanup()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Not `once`: execa ends the process if no other listener is left.
    process.on(signal, () => void cleanup.run().finally(() => process.exit(128 + constants.signals[signal])))
  }
  for (const comparison of comparisons) {
    const folder = await mkdtemp(join(parent, 'run-'))
    cleanup.defer(async () => rm(folder, { recursive: true }))
    try {
      const setup = { logs, folder, defer: cleanup.defer }
      const section = await runComparison(comparison, setup, { rounds, log })
      if (section.failure !== undefined) log(`${comparison.name}: failed: ${section.failure}`)
      sections.push(section)
    } finally {
      await cleanup.run()
    }
  }
  const intro = `# Benchmarks

Written by \`npm run bench:report\`: chain-agent next to other programs, in one run. A ratio below 1 means that chain-agent needs less.
Ratios are of programs that were measured in the same round; times depend on the machine and its load, and are no promise.

- rounds: ${rounds}; a figure is their median, with minimum and maximum
${before}
- load average at the end: ${load()}`
  const text = `${[intro, ...sections.map(({ markdown }) => markdown)].join('\n\n')}\n`
  if (output === '-') process.stdout.write(text)
  else {
    await writeFile(output, text)
    log(`wrote ${relative(process.cwd(), output)}`)
  }
  return sections.some(({ failure }) => failure !== undefined) ? 1 : 0
}

const load = (): string =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(', ')

const describeMachine = async (): Promise<string> => {
  const version = (await must(process.execPath, [MAIN, '--version'])).trim()
  const commit = (await run('git', ['describe', '--always', '--dirty'], { cwd: ROOT })).stdout
  const systemd = (await run('systemctl', ['--version'])).stdout.split('\n')[0] ?? ''
  const [{ model } = { model: 'unknown' }] = cpus()
  return [
    `${new Date().toISOString().slice(0, 16)}Z; ${version} (${commit}); Node.js ${process.version}, V8 ${process.versions.v8}`,
    `Linux ${release()} ${arch()}; ${systemd}; ${cpus().length} × ${model}; ${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `load average at the start: ${load()}`,
  ]
    .map((line) => `- ${line}`)
    .join('\n')
}
