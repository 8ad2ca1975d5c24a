import { appendFile, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createCleanup, reasonOf, ROOT } from '../comparison.ts'
import { createLoad } from './load.ts'
import { renderReport, type Sample, sampleSchema } from './report.ts'
import { HOUR_S, startSandboxed } from './sandboxed.ts'
import { startSimulated, type Subject } from './simulated.ts'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'

const memory = z.object({ rss: z.number(), anonymous: z.number(), heapUsed: z.number() })
const counts = z.record(z.string(), z.number())

/** What `preload.mjs` returns; `objects` and `after` if garbage was collected. */
const figuresSchema = z.object({
  before: memory,
  external: z.number(),
  descriptors: counts,
  children: z.number(),
  resources: counts,
  cpu: z.object({ user: z.number(), system: z.number() }),
  objects: counts.exactOptional(),
  after: memory.exactOptional(),
})

const MIB = 2 ** 20

/** `collect` collects garbage first; `count` also counts objects. */
type Reading = 'read' | 'collect' | 'count'

/** The figures of a process at one time, by name and unit. Throws if it does not return any. */
const readFigures = async (socketFile: string, how: Reading): Promise<Record<string, number>> => {
  const socket = connect(socketFile)
  await once(socket, 'connect')
  socket.write(`${how}\n`)
  const { before, after, objects, ...read } = figuresSchema.parse(JSON.parse(await textOf(socket)))
  return {
    'RSS, MiB': before.rss / MIB,
    'anonymous, MiB': before.anonymous / MIB,
    'heap, MiB': before.heapUsed / MIB,
    'external, MiB': read.external / MIB,
    descriptors: total(read.descriptors),
    ...named('descriptors', read.descriptors),
    children: read.children,
    resources: total(read.resources),
    ...named('resources', read.resources),
    'CPU, s': (read.cpu.user + read.cpu.system) / 1e6,
    ...(after && {
      'RSS after collection, MiB': after.rss / MIB,
      'anonymous after collection, MiB': after.anonymous / MIB,
      'heap after collection, MiB': after.heapUsed / MIB,
    }),
    ...named('objects', objects ?? {}),
  }
}

const total = (by: Readonly<Record<string, number>>): number => Object.values(by).reduce((sum, count) => sum + count, 0)

const named = (what: string, by: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(by).map(([kind, count]) => [`${what}: ${kind}`, count]))

/** Files and MiB of a directory. A file that vanishes meanwhile does not count. */
const sizeOf = async (directory: string): Promise<Record<string, number>> => {
  let bytes = 0
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    bytes += (await stat(join(parentPath, name)).catch(() => ({ size: 0 }))).size
  }
  return { 'state, MiB': bytes / MIB, 'state, files': files.length }
}

const USAGE = `Usage: npm run bench:soak -- [options]

Runs the agent and the query service on a simulated node under load, and checks that none of their figures grows.

  --minutes N      real time (default: 120; with --sandbox 36)
  --speed N        how many times as fast the clock of the node, the agent and the query service runs (default: 10)
  --sandbox        with a real systemd and journald, which needs root: the events of an hour happen every ${HOUR_S} s
  --growth N       largest growth of a figure after the warm-up, in percent (default: 10)
  --output FILE    samples as JSON lines (default: .cache/bench/soak.jsonl)
  --report FILE    print the report of such a file and exit, also while it is written
  --help           this text

Exit code: 0 nothing grows; 1 a figure grows, or a process ended; 2 usage error.
`

interface SoakOptions {
  readonly minutes: number
  readonly speed: number
  readonly sandbox: boolean
  readonly growth: number
  readonly output: string
  readonly report: string | undefined
}

const log = (text: string): void => void process.stderr.write(`${new Date().toISOString()} ${text}\n`)

const readOptions = (args: readonly string[]): SoakOptions | 'help' => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      speed: { type: 'string', default: '10' },
      sandbox: { type: 'boolean', default: false },
      growth: { type: 'string', default: '10' },
      output: { type: 'string', default: join(ROOT, '.cache/bench/soak.jsonl') },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const number = (name: string, text: string): number => {
    if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
    throw new Error(`--${name} ${text}: expected a number from 1 to 9999`)
  }
  return {
    minutes: number('minutes', values.minutes ?? (values.sandbox ? '36' : '120')),
    speed: number('speed', values.speed),
    sandbox: values.sandbox,
    growth: number('growth', values.growth),
    output: resolve(values.output),
    report: values.report,
  }
}

export const main = async (args: readonly string[]): Promise<number> => {
  let options: SoakOptions | 'help'
  try {
    options = readOptions(args)
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\nnpm run bench:soak -- --help lists the options.\n`)
    return 2
  }
  if (options === 'help') {
    process.stdout.write(USAGE)
    return 0
  }
  const ended = options.report === undefined ? await measure(options) : []
  const samples = (await readFile(options.report ?? options.output, 'utf8'))
    .split('\n')
    // The last line may not be complete.
    .slice(0, -1)
    .map((line) => sampleSchema.parse(JSON.parse(line)))
  const { text, failures } = renderReport(samples, options.growth / 100)
  process.stdout.write(text)
  for (const failure of [...ended, ...failures]) process.stderr.write(`${failure}\n`)
  return ended.length + failures.length === 0 ? 0 : 1
}

/** Returns what ended before the time. */
const measure = async (options: SoakOptions): Promise<readonly string[]> => {
  const parent = join(ROOT, '.cache/bench')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'soak-'))
  await mkdir(dirname(options.output), { recursive: true })
  await writeFile(options.output, '')
  const stopping = new AbortController()
  const cleanup = createCleanup()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void cleanup.run().finally(() => process.exit(128 + constants.signals[signal])))
  }
  const load = createLoad(stopping.signal)
  try {
    const sampleMs = options.sandbox ? HOUR_S * 1000 : 60_000
    const count = (options.minutes * 60_000) / sampleMs
    const setup = { folder, defer: cleanup.defer }
    const subjects = await (options.sandbox ? startSandboxed(setup, load, count) : startSimulated(setup, load, options))
    log(`logs and state are in ${folder}, samples in ${options.output}`)
    const began = performance.now()
    const elapsed = (): number => (performance.now() - began) / sampleMs
    // The next one by the clock: on a busy machine a sample may take longer than the interval.
    for (let next = 1; next <= count; next = Math.max(next, Math.floor(elapsed())) + 1) {
      await load.pause(Math.max(0, (next - elapsed()) * sampleMs))
      const minute = Math.round(elapsed() * (options.sandbox ? 60 : 1) * 100) / 100
      const failed = load.takeFailed()
      for (const subject of subjects) {
        const reason = subject.ended?.()
        if (reason !== undefined) return [`${subject.name} ended in minute ${minute}: ${reason}`]
        // Not in each sample: a collection that is forced hides how the process behaves without it.
        const how = next % 12 === 0 ? 'count' : next % 2 === 0 ? 'collect' : 'read'
        const sample = await sampleOf(subject, { minute, how, failed }).catch(reasonOf)
        if (typeof sample === 'string') return [`${subject.name} returned no figures in minute ${minute}: ${sample}`]
        await appendFile(options.output, `${JSON.stringify(sample)}\n`)
      }
    }
    return []
  } finally {
    stopping.abort()
    // First, so that no client waits for a response.
    await cleanup.run()
    await load.ended()
  }
}

interface SampleOptions {
  readonly minute: number
  readonly how: Reading
  readonly failed: number
}

const sampleOf = async (subject: Subject, { minute, how, failed }: SampleOptions): Promise<Sample> => {
  const scrapes = subject.takeScrapes?.() ?? {}
  const size = subject.state === undefined ? {} : await sizeOf(subject.state).catch(() => ({}))
  const read = await readFigures(subject.socketFile, how)
  return { name: subject.name, minute, figures: { ...read, ...size, ...scrapes, 'failed requests': failed } }
}
