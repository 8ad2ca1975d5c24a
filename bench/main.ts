import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { arch, constants, cpus, loadavg, release as kernel, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../src/core/package.ts'
import { must, run } from '../test/support/programs.ts'
import { sweepSandboxes } from '../test/support/sandbox.ts'
import { agent, agentLogs } from './agent.ts'
import { BUDGETED, checkBudget } from './budget.ts'
import { type Comparison, createCleanup, MAIN, ROOT } from './comparison.ts'
import { compareRatios, mainRatios, readHistory, type Release, renderHistory } from './history.ts'
import { ingest } from './ingest/ingest.ts'
import { journal } from './journal.ts'
import { pages } from './pages/pages.ts'
import { runComparison, type Section } from './report.ts'
import { signals } from './signals.ts'
import { startup } from './startup.ts'
import { store } from './store/store.ts'
import { decoders, tokens } from './tokens/tokens.ts'

const COMPARISONS: readonly Comparison[] = [
  startup,
  agent,
  agentLogs,
  signals,
  journal,
  tokens,
  decoders,
  store,
  pages,
  ingest,
]
const NAMES = COMPARISONS.map(({ name }) => name)
const LOGS = 1_000_000
const DOCUMENT = 'bench/README.md'
const USAGE = `Usage: npm run bench:report -- [options]

Compares chain-agent with other programs and writes a Markdown report. Progress is on stderr.

  --rounds N       rounds of each comparison; the report has median, minimum and maximum (default: 3; signals: at least 10)
  --only NAME      one comparison; may be repeated: ${NAMES.join(', ')}
  --large          histories of 10,000,000 logs (decoders: 1,000,000), not 1,000,000
  --check          compare with the last release in ${DOCUMENT}; ${BUDGETED.join(' and ')}
                   measure it in the same windows (5 to 20 of a minute): CPU may be 0.1 points (percent of one core)
                   higher, RSS 5 %; of the others a main ratio may be 15 % higher than the recorded one
  --output FILE    report; - is stdout (default: ${DOCUMENT}; with --only or --check: -)
  --help           this text

The last release is checked out and built in .cache/bench/, once, which needs its commit and the npm registry. A report of all
comparisons adds the ratios of a new version to the table History, if no tracked file differs from its commit.

Exit code: 0 measured; 1 a program failed or has another result than the others, or with --check one needs too much or could
not be compared with the last release; 2 usage error.

Examples:
  npm run bench:report
  npm run bench:report -- --only tokens --rounds 5
  npm run bench:report -- --check --only agent
`

interface BenchOptions {
  readonly comparisons: readonly Comparison[]
  readonly rounds: number
  readonly logs: number
  readonly check: boolean
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
      check: { type: 'boolean', default: false },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const rounds = Number(values.rounds)
  if (!/^[1-9]\d{0,2}$/.test(values.rounds)) {
    throw new Error(`--rounds ${values.rounds}: expected a number from 1 to 999`)
  }
  const { only, check, large } = values
  if (check && large) throw new Error('--check with --large: the recorded ratios are of the shorter histories')
  const unknown = only?.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: expected one of ${NAMES.join(', ')}`)
  return {
    comparisons: COMPARISONS.filter(({ name }) => only?.includes(name) ?? true),
    rounds,
    logs: large ? 10_000_000 : LOGS,
    check,
    output: values.output ?? (only === undefined && !check ? join(ROOT, DOCUMENT) : '-'),
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

const writeReport = async ({ comparisons, rounds, logs, check, output }: BenchOptions): Promise<number> => {
  const releases = readHistory(await readFile(join(ROOT, DOCUMENT), 'utf8'))
  const last = releases.at(-1)
  if (check && !last) throw new Error(`--check: ${DOCUMENT} has no release to compare with`)
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
      const setup = { logs, folder, release: last, check, defer: cleanup.defer }
      const section = await runComparison(comparison, setup, { rounds, log })
      if (section.failure !== undefined) log(`${comparison.name}: failed: ${section.failure}`)
      sections.push(section)
    } finally {
      await cleanup.run()
    }
  }
  const hasFailed = sections.some(({ failure }) => failure !== undefined)
  const ratios = mainRatios(sections)
  const isComplete = comparisons.length === COMPARISONS.length && logs === LOGS && !hasFailed
  const row = isComplete && releases.every((release) => release.version !== version) ? await rowOf(ratios) : undefined
  const intro = `# Benchmarks

Written by \`npm run bench:report\`: chain-agent next to other programs, in one run. A ratio below 1 means that chain-agent needs less.
Ratios are of programs that were measured in the same round; times depend on the machine and its load, and are no promise.

- rounds: at least ${rounds}; a figure is their median, with minimum and maximum
${before}
- load average at the end: ${load()}`
  const history = renderHistory(row ? [...releases, row] : releases)
  const text = `${[intro, history, ...sections.map(({ markdown }) => markdown)].join('\n\n')}\n`
  if (output === '-') process.stdout.write(text)
  else {
    await writeFile(output, text)
    log(`wrote ${relative(process.cwd(), output)}`)
  }
  const isGood = !check || last === undefined || isAsGood(last, sections)
  return hasFailed || !isGood ? 1 : 0
}

/** The row of this version in the history; undefined if its commit is unknown or has other files. */
const rowOf = async (ratios: Release['ratios']): Promise<Release | undefined> => {
  const { stdout, code } = await run('git', ['describe', '--always', '--abbrev=8', '--exclude=*', '--dirty'], {
    cwd: ROOT,
  })
  if (code !== 0 || stdout.endsWith('-dirty')) {
    log(`no row of ${version} in the history: its commit is unknown, or tracked files differ from it`)
    return undefined
  }
  return { version, commit: stdout, date: new Date().toISOString().slice(0, 10), machine: machine(), ratios }
}

/** Logs how a run compares with the last release. */
const isAsGood = (last: Release, sections: readonly Section[]): boolean => {
  const budgets = sections.filter(({ name }) => BUDGETED.includes(name)).map((section) => checkBudget(section, last))
  const others = sections.filter(({ name }) => !BUDGETED.includes(name))
  const { worse, missing } = compareRatios(
    last,
    mainRatios(others),
    others.map(({ name }) => name),
  )
  for (const line of [...budgets.flatMap(({ lines }) => lines), ...missing, ...worse]) log(line)
  if (others.length > 0) {
    log(worse.length === 0 ? 'no ratio is worse' : `${worse.length} worse by more than 15 %`)
    if (last.machine !== machine())
      log(`the recorded ratios are of another machine: ${last.machine}; this one: ${machine()}`)
  }
  return worse.length === 0 && budgets.every(({ isKept }) => isKept)
}

/** As the history has it. */
const machine = (): string => `${cpuText()}, Node.js ${process.versions.node}`

const cpuText = (): string => `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`

const load = (): string =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(', ')

const describeMachine = async (): Promise<string> => {
  const program = (await must(process.execPath, [MAIN, '--version'])).trim()
  const commit = (await run('git', ['describe', '--always', '--dirty'], { cwd: ROOT })).stdout
  const systemd = (await run('systemctl', ['--version'])).stdout.split('\n')[0] ?? ''
  return [
    `${new Date().toISOString().slice(0, 16)}Z; ${program} (${commit}); Node.js ${process.version}, V8 ${process.versions.v8}`,
    `Linux ${kernel()} ${arch()}; ${systemd}; ${cpuText()}; ${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `load average at the start: ${load()}`,
  ]
    .map((line) => `- ${line}`)
    .join('\n')
}
