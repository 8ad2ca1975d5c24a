import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../src/core/clock.ts'
import { LINE_RESULTS } from '../src/domain/agent-metrics.ts'
import { loadScenario } from '../simulator/scenario/scenario.ts'
import { createSimulator, type Simulator } from '../simulator/simulator.ts'
import { debianPackage } from '../test/support/debian.ts'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import { must } from '../test/support/programs.ts'
import { probeSandbox } from '../test/support/sandbox.ts'
import { createNode, type SandboxedNode } from '../test/support/sandboxed-node.ts'
import { agentEnvironment, type Comparison, median, reasonOf, type Setup, Unavailable } from './comparison.ts'

const SECONDS = 30
const SCRAPE_EVERY_SECONDS = 5
const SCRAPES = 100
const MS_PER_BLOCK = 333
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail']
/** What the agent reads from the journal. */
const FORMATS = ['consensus-log', 'execution-log', 'ledger-tail']

interface Exporter {
  readonly name: string
  readonly unit: string
  readonly url: string
}

interface AgentSetup extends Pick<Comparison, 'name' | 'title'> {
  /** What the node writes to the journal. */
  readonly setting: string
  readonly startUnits: (node: SandboxedNode, simulator: Simulator, defer: Setup['defer']) => Promise<unknown>
}

const createComparison = ({ name, title, setting, startUnits }: AgentSetup): Comparison => ({
  name,
  title,
  fairness: `${setting}; default intervals, real systemd and journald. The agent, with the environment of its unit in \`deploy/\`, and node_exporter (its default collectors)
run at the same time as units of one systemd, and both are scraped every ${SCRAPE_EVERY_SECONDS} s for ${SECONDS} s. CPU time is systemd's figure of the unit, including
children that have ended. Memory is the sum of \`smaps_rollup\` of the main process, and of all processes of the unit; anonymous memory does not
contain the pages of programs and libraries, which processes share. Then both are scraped ${SCRAPES} times in turns, compressed if the exporter
supports it, as for Prometheus; a round has the median time of a scrape, divided by its number of series.`,
  open: async ({ folder: directory, defer }) => {
    const [node, exporters] = await startAll(directory, defer, startUnits)
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
    return {
      programs: exporters.map((exporter) => exporter.name),
      round: async () => {
        const units = exporters.map(({ unit }) => unit)
        const [began, before] = [performance.now(), await read()]
        const cpu = await cpuSecondsOf(node, units, async () => {
          while (performance.now() - began < SECONDS * 1000) {
            await delay(SCRAPE_EVERY_SECONDS * 1000)
            for (const { url } of exporters) await scrape(url)
          }
        })
        const seconds = (performance.now() - began) / 1000
        const { blocks, lines } = await read()
        if (!(blocks > before.blocks)) {
          throw new Error(`the agent read ${blocks - before.blocks} blocks; expected about three a second`)
        }
        const memory = await Promise.all(units.map(async (unit) => memoryOf(node, unit)))
        const scraped = await scrapeInTurns(exporters)
        return cpu.map((used, index) => ({
          figures: {
            'CPU, % of one core': (used * 100) / seconds,
            ...memory[index],
            ...scraped[index],
            ...(index === 0 && { 'lines read per second': (lines - before.lines) / seconds }),
          },
        }))
      },
    }
  },
})

const startNode = async (node: SandboxedNode): Promise<void> => {
  for (const service of SERVICES) await node.systemctl('start', node.unit(service))
}

export const agent = createComparison({
  name: 'agent',
  title: 'The agent on a simulated node',
  setting: 'Three blocks a second, of which ledger-tail alone writes lines',
  startUnits: async (node) => {
    await startNode(node)
    await node.ledger.goTo(10_000)
  },
})

export const agentLogs = createComparison({
  name: 'agent-logs',
  title: 'The agent, with the log lines of all units',
  setting:
    'Three blocks a second, and the lines that consensus, execution and ledger-tail write for them at level DEBUG, about 42 a second',
  startUnits: async (node, simulator, defer) => {
    const outputs = new Map<string, ReturnType<typeof createWriteStream>>()
    for (const unit of SERVICES.map(node.unit)) {
      const pipe = join(node.directory, `${unit}.pipe`)
      await must('mkfifo', [pipe])
      await node.writeUnit(`${unit}.d/lines.conf`, `[Service]\nExecStart=\nExecStart=/bin/cat ${pipe}\n`)
      outputs.set(unit, createWriteStream(pipe))
    }
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
      for (const output of outputs.values()) output.destroy()
      return Promise.resolve()
    })
  },
})

const startAll = async (
  directory: string,
  defer: Setup['defer'],
  startUnits: AgentSetup['startUnits'],
): Promise<readonly [SandboxedNode, readonly Exporter[]]> => {
  const program = join(
    await debianPackage('prometheus-node-exporter').catch((error: unknown) => {
      throw new Unavailable(`node_exporter is not available: ${reasonOf(error)}`)
    }),
    'usr/bin/prometheus-node-exporter',
  )
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario: await loadScenario('healthy'),
    directory,
    rpcPort: 0,
    referencePort: 0,
  })
  defer(async () => simulator.close())
  const node = await openNode(defer, {
    millisecondsPerBlock: MS_PER_BLOCK,
    config: {
      rpc: { url: simulator.rpcUrl },
      references: [{ name: 'a', url: simulator.referenceUrl }],
      node: { publicKey: `02${'0'.repeat(64)}` },
    },
  })
  const [agentUnit, peerUnit, port] = ['chain-agent.service', 'node-exporter.service', await freePort()]
  // Without the scripts that record the calls of tools.
  const environment = Object.entries({ PATH: '/usr/bin:/bin', ...(await agentEnvironment()) })
  const lines = environment.map(([variable, value]) => `Environment=${variable}=${value}\n`)
  await node.writeUnit(`${agentUnit}.d/path.conf`, `[Service]\n${lines.join('')}`)
  await node.writeUnit(peerUnit, `[Service]\nExecStart=${program} --web.listen-address=127.0.0.1:${port}\n`)
  await startUnits(node, simulator, defer)
  await node.systemctl('start', peerUnit)
  await node.startAgent()
  const [, version = 'unknown'] = /version (\S+)/.exec(await must(program, ['--version'])) ?? []
  const exporters: readonly Exporter[] = [
    { name: 'chain-agent', unit: agentUnit, url: `http://127.0.0.1:${node.port}/metrics` },
    { name: `node_exporter ${version}`, unit: peerUnit, url: `http://127.0.0.1:${port}/metrics` },
  ]
  for (const { url } of exporters) {
    await eventually(
      async () => scrape(url),
      () => true,
    )
  }
  return [node, exporters]
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

/** What each unit used during `work`. */
export const cpuSecondsOf = async (
  node: SandboxedNode,
  units: readonly string[],
  work: () => Promise<unknown>,
): Promise<readonly number[]> => {
  const read = async (unit: string): Promise<number> =>
    Number(await node.systemctl('show', '-P', 'CPUUsageNSec', unit)) / 1e9
  const before = await Promise.all(units.map(read))
  await work()
  return Promise.all(units.map(async (unit, index) => (await read(unit)) - (before[index] ?? Number.NaN)))
}

/** Of the main process, and of all processes of the unit. */
const memoryOf = async (node: SandboxedNode, unit: string): Promise<Readonly<Record<string, number>>> => {
  const script = `main=$(systemctl show -P MainPID ${unit})
    for pid in $main $(cat /sys/fs/cgroup$(systemctl show -P ControlGroup ${unit})/cgroup.procs); do
      echo $(sed -nE 's/^(Rss|Anonymous): +([0-9]+) kB$/\\2/p' /proc/$pid/smaps_rollup)
    done`
  const lines = (await node.exec('sh', ['-c', script])).stdout.trim().split('\n')
  // The first line is the main process, which is in the list of the unit, too.
  const [main, ...all] = lines.map((line) => line.split(' ').map((kib) => Number(kib) / 1024))
  const sum = (index: number): number => all.reduce((total, sizes) => total + (sizes[index] ?? 0), 0)
  return {
    'RSS, MiB': main?.[0] ?? Number.NaN,
    'anonymous, MiB': main?.[1] ?? Number.NaN,
    'RSS with children, MiB': sum(0),
    'anonymous with children, MiB': sum(1),
  }
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
