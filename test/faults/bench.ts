import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { loadScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulator } from '../../simulator/simulator.ts'
import { startAgent, type Watched } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import type { Exposition } from '../support/scrape.ts'
import { createFlakyServer, createFlakyTool, type Mode } from './flaky.ts'
import { COUNTERS, GAUGES, HEIGHTS, type Part } from './table.ts'

export interface Bench {
  readonly agent: Watched
  readonly parts: Readonly<Record<Part, { set(mode: Mode): Promise<void> }>>
  /** Scrapes, and records whether any height was ever 0. */
  look(): Promise<Exposition>
  /** Waits until every metric of a healthy node is present. */
  isWell(): Promise<void>
  zeros(): readonly string[]
  close(): Promise<void>
}

/** A tool of the simulated node is a process of Node.js: shorter intervals would saturate the cores. */
const OFTEN = { interval: '1s' }

/** A simulated node with parts that can be made to fail, and an agent with short intervals. */
export const createBench = async (): Promise<Bench> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-faults-'))
  const bin = join(directory, 'flaky')
  await mkdir(bin)
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario: await loadScenario('healthy'),
    directory,
  })
  const rpc = await createFlakyServer(simulator.rpcUrl, await freePort())
  const reference = await createFlakyServer(simulator.referenceUrl, await freePort())
  const native = await createFlakyServer(simulator.nativeUrl, await freePort())
  const behind = simulator.binDirectory
  const systemctl = await createFlakyTool('systemctl', { bin, behind })
  const journalctl = await createFlakyTool('journalctl', { bin, behind })
  const mpt = await createFlakyTool('chain-mpt', { bin, behind })
  const status = await createFlakyTool('chain-status', { bin, behind })
  const node = await createFlakyTool('chain-node', { bin, behind })
  const dpkg = await createFlakyTool('dpkg-query', { bin, behind })
  const agent = await startAgent(
    {
      prefix: 'chain',
      rpc: { url: rpc.url, ...OFTEN },
      references: [{ name: 'other', url: reference.url }],
      reference: { ...OFTEN },
      services: { ...OFTEN },
      native: { url: native.url, fallbackUrl: null, ...OFTEN },
      traffic: { enabled: false },
      // Without dpkg's list of packages, whose changes cause a read.
      version: { rootDirectory: directory, ...OFTEN },
      storage: { ...OFTEN },
      status: { ...OFTEN },
    },
    { PATH: bin },
  )

  const zeros: string[] = []
  const look = async (): Promise<Exposition> => {
    const seen = await agent.look()
    zeros.push(...HEIGHTS.filter((series) => read(seen, series) === 0))
    return seen
  }
  const see: Watched['see'] = async (reading, condition) => eventually(async () => reading(await look()), condition)
  return {
    agent: { ...agent, see },
    parts: { rpc, reference, native, systemctl, journalctl, mpt, status, node, dpkg },
    look,
    isWell: async () => {
      await see(
        (seen) => [
          ...missing(seen, [...GAUGES, ...COUNTERS]),
          ...(read(seen, 'chain_rpc_up') === 1 ? [] : ['the RPC is not up']),
        ],
        (wanting) => wanting.length === 0,
      )
    },
    zeros: () => zeros,
    close: async () => {
      await agent.stop()
      await Promise.all([rpc.close(), reference.close(), native.close(), simulator.close()])
      await rm(directory, { recursive: true })
    },
  }
}

/** `name{label=value,…}` → the exported value, or undefined. */
export const read = ({ value }: Exposition, series: string): number | undefined => {
  const [, name = '', labels = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(series) ?? []
  const pairs = labels === '' ? [] : labels.split(',')
  return value(
    name,
    Object.fromEntries(
      pairs.map((pair): [string, string] => {
        const at = pair.indexOf('=')
        return [pair.slice(0, at), pair.slice(at + 1)]
      }),
    ),
  )
}
/** The series that are absent. */
export const missing = (seen: Exposition, series: readonly string[]): readonly string[] =>
  series.filter((one) => read(seen, one) === undefined)

/** The differences from the expected values, as text. */
export const unlike = (seen: Exposition, expected: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(expected)
    .filter(([series, value]) => read(seen, series) !== value)
    .map(([series, value]) => `${series} is ${read(seen, series)}, not ${value}`)
