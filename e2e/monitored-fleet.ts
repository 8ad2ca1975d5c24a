import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import { instantQuery, prometheus, type Series } from '../test/support/prometheus.ts'
import { type Running, start } from '../test/support/programs.ts'
import { fleetSchema, type FleetNodes } from './expected-states.ts'

export interface Watched {
  readonly nodes: FleetNodes
  query(expression: string): Promise<readonly Series[]>
  stop(): Promise<void>
}

type Stop = () => Promise<unknown>

/** Starts a simulated fleet with the demo command, and a real Prometheus that scrapes every node of it. */
export const monitorFleet = async (nodes: number): Promise<Watched> => {
  const ends: Stop[] = []
  const stop = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end()
  }
  try {
    const fleet = await startFleet(nodes, ends)
    const front = `http://127.0.0.1:${fleet.port}`
    const fleetNodes = fleetSchema.parse(await (await fetch(`${front}/fleet.json`)).json())
    const address = await startPrometheus(fleet.config, ends)
    const query = async (expression: string): Promise<readonly Series[]> => instantQuery(address, expression)
    await eventually(async () => (await query('up{job="chain-agent"}')).length, nodes, { within: 60_000 })
    return { nodes: fleetNodes, query, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const startFleet = async (nodes: number, stop: Stop[]) => {
  const port = await freePort()
  const main = join(import.meta.dirname, '../dist/main.js')
  const args = [main, 'demo', '--fleet', `${nodes}`, '--port', `${port}`]
  const running: Running = start(process.execPath, args)
  stop.push(async () => running.stop('SIGINT'))
  await eventually(running.output, /Ctrl-C/, { within: 240_000 })
  return { port, config: /--config\.file=(\S+)/.exec(running.output())?.[1] ?? 'none' }
}

/** Starts Prometheus with the configuration and the command line that the demo prints. */
const startPrometheus = async (config: string, stop: Stop[]): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-fleet-data-'))
  const address = `127.0.0.1:${await freePort()}`
  const server = start(await prometheus(), [
    `--config.file=${config}`,
    `--storage.tsdb.path=${directory}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ])
  stop.push(async () => rm(directory, { recursive: true }), server.stop)
  await eventually(async () => (await fetch(`http://${address}/-/ready`)).status, 200)
  return address
}
