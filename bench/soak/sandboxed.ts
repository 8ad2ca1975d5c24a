import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { freePort } from '../../test/support/free-port.ts'
import { openNode } from '../agent.ts'
import { MAIN, type Setup } from '../comparison.ts'
import type { Load } from './load.ts'
import {
  createLauncher,
  nodeOptions,
  repeated,
  SERVICE_OPTIONS,
  serviceConfig,
  startClients,
  startSimulator,
  type Subject,
} from './simulated.ts'

/** Real seconds in which the events of an hour happen: each restart needs one or two. */
export const HOUR_S = 30

/** Of the simulated node, within these seconds. */
const HOUR: readonly (readonly [number, string])[] = [
  [4, 'log floods 1000'],
  [7, 'log calms'],
  [10, 'network noise 20'],
  [13, 'network calms'],
  [14, 'rpc fails'],
  [16, 'rpc answers'],
  [18, 'node syncs 4s'],
  [26, 'reference fails'],
  [28, 'reference answers'],
]

/** A tenth of the defaults or less. */
const INTERVALS = {
  rpc: '500ms',
  services: '500ms',
  reference: '1s',
  native: '1s',
  host: '2s',
  keys: '5s',
  version: '6s',
  staking: '6s',
  storage: '6s',
  status: '30s',
}

/** What `openNode` has chosen. */
const ownSchema = z.object({ listen: z.string(), state: z.looseObject({}) })

/**
 * A real systemd and journald, in which the agent, the query service and the services of the node are units. Each service of the node writes
 * the log of the simulated one; `openNode` needs root.
 */
export const startSandboxed = async (
  setup: Pick<Setup, 'folder' | 'defer'>,
  load: Load,
  hours: number,
): Promise<readonly Subject[]> => {
  const { folder, defer } = setup
  const scenario = repeated(HOUR, { every: HOUR_S, times: hours + 1 })
  const { simulator, node: simulated } = await startSimulator(createLauncher(setup, 1), folder, scenario)
  const configOf = (intervals: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> => {
    const text = renderConfig(simulated, { directory: folder, port: 0, intervals })
    const { listen: _, state: __, ...config } = z.record(z.string(), z.unknown()).parse(parse(text))
    return config
  }
  const node = await openNode(defer, { config: configOf(INTERVALS) })
  const socketFile = (name: string): string => join(node.directory, `${name}.sock`)
  const start = (name: string, args: readonly string[]): string => {
    const command = [process.execPath, ...nodeOptions(node.directory), ...args].join(' ')
    return `ExecStart=${command}\nEnvironment=SOAK_SOCKET=${socketFile(name)}\n`
  }
  const agentFile = join(node.directory, 'config.yaml')
  const serviceFile = join(node.directory, 'query-service.yaml')
  const ports = [await freePort(), await freePort()] as const
  await writeFile(serviceFile, serviceConfig(simulated, { folder: node.directory, ports, readyLag: 30 }))
  // The real systemctl and journalctl, and the tools of the simulated node.
  const path = `Environment=PATH=/usr/bin:/bin:${simulated.binDirectory}`
  await node.writeUnit(
    'chain-agent.service.d/soak.conf',
    `[Service]\nExecStart=\n${start('agent', [MAIN, 'run', '--config', agentFile])}${path}\n`,
  )
  await node.writeUnit(
    'query-service.service',
    `[Service]\n${start('query-service', [...SERVICE_OPTIONS, MAIN, 'serve-query', '--config', serviceFile])}`,
  )
  const services = ['bft', 'execution', 'rpc', 'ledger-tail'].map(node.unit)
  for (const unit of services) {
    const relay = `${simulated.binDirectory}/journalctl --follow --lines=0 --output=cat --unit=${unit}`
    const limits = '[Unit]\nStartLimitIntervalSec=0\n'
    await node.writeUnit(`${unit}.d/relay.conf`, `${limits}[Service]\nExecStart=\nExecStart=${relay}\nLimitCORE=0\n`)
  }
  await node.systemctl('start', ...services, 'query-service.service')
  await node.startAgent()

  const take = await startClients(load, { agent: node.port, query: ports[0], operations: ports[1], every: 1500 })
  const own = ownSchema.parse(parse(await readFile(agentFile, 'utf8')))
  const reload = async (isOdd: boolean): Promise<void> => {
    const changed = isOdd ? { rpc: '700ms', host: '3s', services: '800ms' } : {}
    await writeFile(agentFile, stringify({ ...configOf({ ...INTERVALS, ...changed }), ...own }))
    const readyLag = isOdd ? 31 : 30
    await writeFile(serviceFile, serviceConfig(simulated, { folder: node.directory, ports, readyLag }))
    const units = ['chain-agent.service', 'query-service.service']
    await node.systemctl('kill', '--kill-whom=main', '--signal=HUP', ...units)
  }
  const bft = node.unit('bft')
  const events: readonly (readonly [number, () => Promise<unknown>])[] = [
    [1, async () => node.systemctl('restart', bft)],
    [8, async () => node.signal('bft', 'ABRT')],
    [9, async () => node.systemctl('start', bft)],
    [11, async () => node.exec('journalctl', ['--rotate', '--vacuum-files=2'])],
    [13, async () => reload(true)],
    [17, async () => node.systemctl('restart', ...services)],
    [23, async () => node.systemctl('restart', node.unit('ledger-tail'))],
    [24, async () => node.systemctl('stop', node.unit('execution'))],
    [25, async () => node.systemctl('start', node.unit('execution'))],
    [27, async () => reload(false)],
  ]
  load.every(0, async () => {
    const began = Date.now()
    for (const [second, act] of events) {
      await load.pause(Math.max(0, began + second * 1000 - Date.now()))
      if (!load.isStopped()) await act()
    }
    await load.pause(Math.max(0, began + HOUR_S * 1000 - Date.now()))
  })
  return [
    { name: 'agent', socketFile: socketFile('agent'), state: join(node.directory, 'state'), takeScrapes: take.agent },
    {
      name: 'query-service',
      socketFile: socketFile('query-service'),
      state: join(node.directory, 'event-logs'),
      takeScrapes: take.service,
    },
    simulator,
  ]
}
