import { CHAIN_ID } from '../rpc/rpc-methods.ts'
import { digest } from '../chain/random.ts'
import type { SimulatedNode } from '../node.ts'
import { ROLES } from '../scenario/service.ts'
import type { Tool } from './tools.ts'
import { capitalised, clientVersionOf } from './versions.ts'

/** The stand-in for the node's status script: a report that looks like YAML and always ends well. */
export const createStatusTool =
  (node: SimulatedNode): Tool =>
  () => [{ stdout: renderReport(node) }, { exit: 0 }]

const SUB_STATE = { active: 'running', inactive: 'dead', failed: 'failed' } as const
const MINUTE = 60_000

const renderReport = (node: SimulatedNode): string => {
  const { prefix, own, chain, heights, version } = node
  const now = node.now()
  const { services } = node.condition()
  const local = heights.execution(now)
  const external = chain.headAt(now).seqNum
  const block = chain.block(heights.consensus(now))
  const runs = services.bft.state === 'active'
  const answers = services.rpc.state === 'active'
  const passed = Math.floor(now / MINUTE) % 60
  const keys = (purpose: string): string =>
    digest(own.publicKey, purpose, 1) + digest(own.publicKey, purpose, 2)
  return [
    `### ${capitalised(prefix)} Node Status`,
    'hostname: simulated',
    `date: ${new Date(now).toUTCString().replace(',', '').replace('GMT', 'UTC')}`,
    `uptime: ${uptime(runs ? now - services.bft.startedMs : 0)}`,
    `version: ${version}`,
    'config:',
    '  network: rehearsal',
    `  chain: ${prefix}_rehearsal`,
    `  chainId: ${CHAIN_ID}`,
    `  secpPublicKey: ${own.publicKey}`,
    `  blsPublicKey: ${keys('bls').slice(0, 96)}`,
    `  nodeSignature: ${keys('signature')}01`,
    `  selfAddress: ${own.address}`,
    '  recordSeqNum: 3',
    'services:',
    ...ROLES.filter((role) => role !== 'ledger-tail').map(
      (role) =>
        `  ${role === 'otelcol' ? role : `${prefix}-${role}`}: ${SUB_STATE[services[role].state]}`,
    ),
    `  ${prefix}-cruft:`,
    '    activated: true',
    `    previous: ${passed}min ago`,
    `    next: ${60 - passed}min`,
    'peers:',
    `  peersNumber: ${runs ? 187 + (passed % 9) : 0}`,
    'consensus:',
    `  status: ${external - local < 10n ? 'in-sync' : 'out-of-sync'}`,
    '  mode: live',
    `  epoch: ${block?.epoch ?? ''}`,
    `  round: ${block?.round ?? ''}`,
    `  blockNumber: ${local}`,
    `  blockNumberFromExternal: ${external}`,
    `  blockDifference: ${external - local}`,
    'statesync:',
    '  percentage: 0%',
    '  progress: 0',
    '  target: 0',
    'rpc:',
    `  status: ${answers ? 'active' : 'inactive'}`,
    `  clientVersion: ${answers ? clientVersionOf(node) : ''}`,
    `  netVersion: ${answers ? CHAIN_ID : ''}`,
    `  blockNumber: ${answers ? heights.rpc(now) : ''}`,
    '',
  ].join('\n')
}

/** `2d 05h 12m 09s` */
const uptime = (ms: number): string => {
  const seconds = Math.floor(ms / 1000)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const [days, hours] = [Math.floor(seconds / 86_400), (seconds % 86_400) / 3600]
  return `${days}d ${two(hours)}h ${two((seconds % 3600) / 60)}m ${two(seconds % 60)}s`
}
