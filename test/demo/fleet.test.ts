import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type Running, start } from '../support/programs.ts'
import { type Exposition, scrape } from '../support/scrape.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

const fleetSchema = z.array(
  z.object({ name: z.string(), profile: z.string(), publicKey: z.string(), metrics: z.string() }),
)
const targetsSchema = z.array(z.object({ targets: z.tuple([z.string()]), labels: z.record(z.string(), z.string()) }))

describe('a fleet of six', () => {
  let demo: Running
  let front = ''
  let nodes: z.output<typeof fleetSchema> = []

  beforeAll(async () => {
    const port = await freePort()
    demo = start(process.execPath, [MAIN, 'demo', '--fleet', '6', '--port', `${port}`])
    front = `http://127.0.0.1:${port}`
    await eventually(demo.output, /Ctrl-C/)
    nodes = fleetSchema.parse(await (await fetch(`${front}/fleet.json`)).json())
  })
  afterAll(async () => {
    await demo.stop()
  })

  const look = async (name: string): Promise<Exposition> =>
    scrape(nodes.find((node) => node.name === name)?.metrics ?? 'none')

  it('reports the profile of each node and the targets for Prometheus', async () => {
    expect(nodes.map(({ name, profile }) => `${name} ${profile}`)).toEqual([
      'node-001 healthy',
      'node-002 healthy',
      'node-003 behind',
      'node-004 healthy',
      'node-005 healthy',
      'node-006 stalled',
    ])
    expect(new Set(nodes.map(({ publicKey }) => publicKey)).size).toBe(6)
    const targets = targetsSchema.parse(await (await fetch(`${front}/targets`)).json())
    expect(targets.map(({ targets: [target], labels }) => [labels['node'], target])).toEqual(
      nodes.map(({ name, metrics }) => [name, new URL(metrics).host]),
    )
  })

  it('runs complete agents, each with the values of its own node', async () => {
    const difference = async (name: string): Promise<number | undefined> =>
      (await look(name)).value('chain_block_difference')
    await eventually(
      async () => difference('node-003'),
      (blocks = 0) => Math.abs(blocks - 40) <= 2,
    )
    await eventually(
      async () => difference('node-002'),
      (blocks = Number.NaN) => Math.abs(blocks) <= 2,
    )
    const collectors = ['rpc', 'ledger', 'consensus', 'storage', 'host', 'native']
    // The first reading of the host comes last.
    await eventually(
      async () => {
        const { value } = await look('node-001')
        return collectors.filter((collector) => value('chain_agent_collector_up', { collector }) !== 1)
      },
      (missing) => missing.length === 0,
    )
  })

  it('exports the metrics of the shared process once, and not per node', async () => {
    expect((await look('node-001')).value('process_resident_memory_bytes')).toBe(undefined)
    const { value } = await scrape(`${front}/metrics`)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  })

  it('stops at Ctrl-C and removes its files', async () => {
    const [, directory = 'none'] = /log +(\S+)\/agents\.log/.exec(demo.output()) ?? []
    await access(directory)
    await demo.stop('SIGINT')
    await expect(access(directory)).rejects.toThrow('ENOENT')
  })
})
