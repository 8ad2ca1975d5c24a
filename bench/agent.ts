import { createWriteStream, type WriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../src/core/clock.ts'
import { LINE_RESULTS } from '../src/domain/log-state.ts'
import { loadScenario } from '../simulator/scenario/scenario.ts'
import { createSimulator, type Simulator } from '../simulator/simulator.ts'
import { debianPackage } from '../test/support/debian.ts'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import { must } from '../test/support/programs.ts'
import { probeSandbox } from '../test/support/sandbox.ts'
import { createNode, type SandboxedNode } from '../test/support/sandboxed-node.ts'
import { CPU, hasEnoughWindows, RSS } from './budget.ts'
import {
  agentEnvironment,
  type Comparison,
  median,
  reasonOf,
  ROOT,
  type Setup,
  type Skipped,
  Unavailable,
} from './comparison.ts'
import { buildRelease, releaseName } from './release.ts'
import { usageDuring, type UsedBetween } from './usage.ts'

const SECONDS = 30
/** Of a check, as the two below: the figures of two processes of the same build differ by 0.3 points in a window of a minute. */
const CHECK_SECONDS = 60
/** The processes of each build, whose mean is a figure: it halves that difference. */
const CHECK_COPIES = 4
/** Until the code that runs often is compiled. */
const WARM_UP_SECONDS = 60
const SCRAPE_EVERY_SECONDS = 5
const SCRAPES = 100
const MS_PER_BLOCK = 333
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail']
/** What the agent reads from the journal. */
const FORMATS = ['consensus-log', 'execution-log', 'ledger-tail']
/** By `node --v8-options`. */
const DEFAULT_V8_WORKERS = 4

/** A program and its processes, each a unit. */
interface Program {
  readonly name: string
  readonly exporters: readonly Exporter[]
}

export interface Exporter {
  readonly unit: string
  readonly url: string
  /** Of a program on Node.js: the size of V8's thread pool. */
  readonly v8Workers?: number
}

type StartUnits = (node: SandboxedNode, simulator: Simulator, defer: Setup['defer']) => Promise<unknown>

interface AgentSetup extends Pick<Comparison, 'name' | 'title'> {
  /** What the node writes to the journal. */
  readonly setting: string
  readonly startUnits: StartUnits
}

const createComparison = ({ name, title, setting, startUnits }: AgentSetup): Comparison => ({
  name,
  title,
  fairness: `${setting}; default intervals, real systemd and journald. The agent, the last release (each with the environment of its
own unit in \`deploy/\`) and node_exporter (its default collectors) run at the same time as units of one systemd, and all are scraped every ${SCRAPE_EVERY_SECONDS} s for ${SECONDS} s.
With \`--check\` they are measured after a minute, for ${CHECK_SECONDS} s each time, and a figure is the mean of ${CHECK_COPIES} processes of each build. CPU time is that of the unit's
control group, including children that have ended; of the programs on Node.js also by part, from \`schedstat\`: other threads are mostly the libuv pool,
living children have run from the start to the end, and the rest of the control group is short-lived children.
Memory is the sum of \`smaps_rollup\` of the main process, and of all processes of the unit; anonymous memory does not
contain the pages of programs and libraries, which processes share. Then all are scraped ${SCRAPES} times in turns, compressed if the exporter
supports it, as for Prometheus; a round has the median time of a scrape, divided by its number of series.`,
  open: async (setup) => {
    const seconds = setup.check ? CHECK_SECONDS : SECONDS
    const { node, agents, skipped } = await openAgents(setup, startUnits, setup.check ? CHECK_COPIES : 1)
    const programs = [...agents, await startPeer(node)]
    const exporters = programs.flatMap((program) => program.exporters)
    const read = async () => {
      const { value } = await node.look()
      const counts = FORMATS.flatMap((format) =>
        LINE_RESULTS.map((result) => value('chain_agent_lines_total', { format, result }) ?? 0),
      )
      return {
        blocks: value('chain_ledger_seq_num', { event: 'proposed' }) ?? Number.NaN,
        lines: counts.reduce((sum, count) => sum + count, 0),
      }
    }
    const scrapeFor = async (duration: number): Promise<void> => {
      for (const end = performance.now() + duration * 1000; performance.now() < end;) {
        await delay(Math.min(SCRAPE_EVERY_SECONDS * 1000, end - performance.now()))
        for (const { url } of exporters) await scrape(url)
      }
    }
    if (setup.check) await scrapeFor(WARM_UP_SECONDS)
    return {
      programs: programs.map((program) => program.name),
      skipped,
      ...(setup.check && { hasEnough: hasEnoughWindows }),
      round: async () => {
        const units = exporters.map(({ unit }) => unit)
        const [began, before] = [performance.now(), await read()]
        const used = await usageDuring(node, units, async () => scrapeFor(seconds))
        const elapsed = (performance.now() - began) / 1000
        const { blocks, lines } = await read()
        if (!(blocks > before.blocks)) {
          throw new Error(`the agent read ${blocks - before.blocks} blocks; expected about three a second`)
        }
        const scraped = await scrapeInTurns(exporters)
        const figures = used.map((usage, index) => ({
          ...figuresOf(usage, elapsed, exporters[index]?.v8Workers),
          ...scraped[index],
        }))
        return programs.map((program, index) => ({
          figures: {
            ...meanOf(figures.filter((_, at) => exporters[at] && program.exporters.includes(exporters[at]))),
            ...(index === 0 && { 'lines read per second': (lines - before.lines) / elapsed }),
          },
        }))
      },
    }
  },
})

const meanOf = (all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.keys(all[0] ?? {}).map((name) => [
      name,
      all.reduce((sum, figures) => sum + (figures[name] ?? Number.NaN), 0) / all.length,
    ]),
  )

/** Of a window of `seconds`. */
const figuresOf = (
  { cpu, memory, parts }: UsedBetween,
  seconds: number,
  v8Workers: number | undefined,
): Readonly<Record<string, number>> => {
  const percent = (used: number): number => (used * 100) / seconds
  const sum = (key: 'rss' | 'anonymous'): number => memory.reduce((total, process) => total + process[key], 0)
  const byPart: Readonly<Record<string, number>> = v8Workers === undefined ? {} : parts(v8Workers)
  return {
    [CPU]: percent(cpu),
    ...Object.fromEntries(Object.entries(byPart).map(([part, used]) => [`CPU of ${part}, %`, percent(used)])),
    [RSS]: memory[0]?.rss ?? Number.NaN,
    'anonymous, MiB': memory[0]?.anonymous ?? Number.NaN,
    'RSS with children, MiB': sum('rss'),
    'anonymous with children, MiB': sum('anonymous'),
  }
}

const startNode = async (node: SandboxedNode): Promise<void> => {
  for (const service of SERVICES) await node.systemctl('start', node.unit(service))
}

/** Starts the node; ledger-tail alone writes lines. */
export const startLedger: StartUnits = async (node) => {
  await startNode(node)
  await node.ledger.goTo(10_000_000)
}

export const agent = createComparison({
  name: 'agent',
  title: 'The agent on a simulated node',
  setting: 'Three blocks a second, of which ledger-tail alone writes lines',
  startUnits: startLedger,
})

export const agentLogs = createComparison({
  name: 'agent-logs',
  title: 'The agent, with the log lines of all units',
  setting:
    'Three blocks a second, and the lines that consensus, execution and ledger-tail write for them at level DEBUG, about 42 a second',
  startUnits: async (node, simulator, defer) => {
    const outputs = await openPipes(node, SERVICES.map(node.unit), defer)
    await startNode(node)
    const { journal } = simulator.node
    let next = (journal.read(0).at(-1)?.number ?? 0) + 1
    const timer = setInterval(() => {
      for (const { number, fields } of journal.read(next)) {
        outputs.get(fields['_SYSTEMD_UNIT'] ?? '')?.write(`${fields['MESSAGE']}\n`)
        next = number + 1
      }
    }, 100)
    defer(async () => {
      clearInterval(timer)
      return Promise.resolve()
    })
  },
})

/** Makes units write what comes through a pipe; returns the writable end by unit. The units must be started afterwards. */
export const openPipes = async (
  node: SandboxedNode,
  units: readonly string[],
  defer: Setup['defer'],
): Promise<ReadonlyMap<string, WriteStream>> => {
  const outputs = new Map<string, WriteStream>()
  for (const unit of units) {
    const pipe = join(node.directory, `${unit}.pipe`)
    await must('mkfifo', [pipe])
    await node.writeUnit(`${unit}.d/lines.conf`, `[Service]\nExecStart=\nExecStart=/bin/cat ${pipe}\n`)
    const output = createWriteStream(pipe)
    defer(async () => Promise.resolve(output.destroy()))
    outputs.set(unit, output)
  }
  return outputs
}

/** This checkout and, if it can be built, the last release, as agents of one sandboxed node; each has answered a scrape. */
export const openAgents = async (
  { folder, defer, release, check }: Setup,
  startUnits: StartUnits,
  copies: number,
): Promise<{
  readonly node: SandboxedNode
  readonly agents: readonly Program[]
  readonly skipped: readonly Skipped[]
}> => {
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario: await loadScenario('healthy'),
    directory: folder,
  })
  defer(async () => simulator.close())
  const config = {
    rpc: { url: simulator.rpcUrl },
    references: [{ name: 'a', url: simulator.referenceUrl }],
    node: { publicKey: `02${'0'.repeat(64)}` },
  }
  const node = await openNode(defer, { millisecondsPerBlock: MS_PER_BLOCK, config })
  const addAll = async (root: string, name: string, count: number): Promise<readonly Exporter[]> => {
    const added: Exporter[] = []
    for (let copy = 1; copy <= count; copy += 1)
      added.push(await addAgent(node, { root, name: `${name}-${copy}`, config }))
    return added
  }
  const [unit, url] = ['chain-agent.service', `http://127.0.0.1:${node.port}/metrics`]
  const first: Exporter = { unit, url, v8Workers: await setEnvironment(node, unit, ROOT) }
  const own = await addAll(ROOT, 'copy', copies - 1)
  const agents: Program[] = [{ name: 'chain-agent', exporters: [first, ...own] }]
  const skipped: Skipped[] = []
  if (release) {
    const name = releaseName(release)
    try {
      agents.push({ name, exporters: await addAll(await buildRelease(release), 'release', copies) })
    } catch (error) {
      if (!(error instanceof Unavailable) || check) throw new Error(`${name}: ${reasonOf(error)}`, { cause: error })
      skipped.push({ name, reason: reasonOf(error) })
    }
  }
  await startUnits(node, simulator, defer)
  const others = agents.flatMap(({ exporters }) => exporters).filter((exporter) => exporter !== first)
  for (const exporter of others) await node.systemctl('start', exporter.unit)
  await node.startAgent()
  for (const exporter of others)
    await eventually(
      async () => scrape(exporter.url),
      () => true,
    )
  return { node, agents, skipped }
}

interface AgentUnit {
  /** Of the unit, the configuration and the state. */
  readonly name: string
  /** The checkout. */
  readonly root: string
  readonly config: Readonly<Record<string, unknown>>
}

/** Adds the unit of a further agent. */
const addAgent = async (node: SandboxedNode, { name, root, config }: AgentUnit): Promise<Exporter> => {
  const [unit, port, file] = [`${name}.service`, await freePort(), join(node.directory, `${name}.yaml`)]
  const own = { prefix: 'chain', listen: `127.0.0.1:${port}`, state: { directory: join(node.directory, name) } }
  await writeFile(file, JSON.stringify({ ...own, ...config }))
  await node.writeUnit(unit, `[Service]\nExecStart=${process.execPath} ${root}/dist/main.js run --config ${file}\n`)
  return { unit, url: `http://127.0.0.1:${port}/metrics`, v8Workers: await setEnvironment(node, unit, root) }
}

/** Gives a unit the environment that the agent of a checkout has; returns the size of V8's thread pool. */
const setEnvironment = async (node: SandboxedNode, unit: string, root: string): Promise<number> => {
  // Without the scripts that record the calls of tools.
  const variables = { PATH: '/usr/bin:/bin', ...(await agentEnvironment(root)) }
  const lines = Object.entries(variables).map(([variable, value]) => `Environment="${variable}=${value}"\n`)
  await node.writeUnit(`${unit}.d/path.conf`, `[Service]\n${lines.join('')}`)
  const [, size] = /--v8-pool-size=(\d+)/.exec(lines.join('')) ?? []
  return size === undefined ? DEFAULT_V8_WORKERS : Number(size)
}

const startPeer = async (node: SandboxedNode): Promise<Program> => {
  const program = join(
    await debianPackage('prometheus-node-exporter').catch((error: unknown) => {
      throw new Unavailable(`node_exporter is not available: ${reasonOf(error)}`)
    }),
    'usr/bin/prometheus-node-exporter',
  )
  const [unit, port] = ['node-exporter.service', await freePort()]
  await node.writeUnit(unit, `[Service]\nExecStart=${program} --web.listen-address=127.0.0.1:${port}\n`)
  await node.systemctl('start', unit)
  const url = `http://127.0.0.1:${port}/metrics`
  await eventually(
    async () => scrape(url),
    () => true,
  )
  const [, version = 'unknown'] = /version (\S+)/.exec(await must(program, ['--version'])) ?? []
  return { name: `node_exporter ${version}`, exporters: [{ unit, url }] }
}

/** A node with real systemd and journald, which needs root. */
export const openNode = async (
  defer: Setup['defer'],
  options: Parameters<typeof createNode>[1],
): Promise<SandboxedNode> => {
  const probe = await probeSandbox()
  if ('missing' in probe) throw new Unavailable(`a sandbox with systemd is not possible: ${probe.missing}`)
  const node = await createNode('chain', options)
  defer(async () => node.down())
  return node
}

const scrape = async (url: string): Promise<{ readonly microseconds: number; readonly series: number }> => {
  const began = performance.now()
  const text = await (await fetch(url)).text()
  const microseconds = (performance.now() - began) * 1000
  return { microseconds, series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length }
}

const scrapeInTurns = async (exporters: readonly Exporter[]): Promise<readonly Readonly<Record<string, number>>[]> => {
  const scrapes = exporters.map((): Awaited<ReturnType<typeof scrape>>[] => [])
  for (let count = 0; count < SCRAPES; count += 1) {
    for (const [index, { url }] of exporters.entries()) scrapes[index]?.push(await scrape(url))
  }
  return scrapes.map((all) => ({
    series: median(all.map(({ series }) => series)),
    'scrape, µs per series': median(all.map(({ microseconds, series }) => microseconds / series)),
  }))
}
