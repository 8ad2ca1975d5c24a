import { digest } from './chain.ts'
import { isSyncing, type Progress, progressAt, rpcListens } from './consensus/statesync.ts'
import { drift } from './format-drift.ts'
import { keyPairOf } from './keystore/keystore-file.ts'
import type { SimulatedNode } from './subject.ts'
import { CHAIN_ID } from './rpc/rpc.ts'
import { ROLES } from './services/service.ts'
import { capitalised, clientVersionOf, installedVersion } from './versions.ts'
import type { Tool } from './tools/tools.ts'

/** The simulated status script of the node: a report that looks like YAML; always exits with 0. */
export const createStatusTool =
  (node: SimulatedNode): Tool =>
  () => {
    const text = renderReport(node)
    return [{ stdout: node.condition().formatsDrift ? drift.status(text) : text }, { exit: 0 }]
  }

const SUB_STATE = { active: 'running', inactive: 'dead', failed: 'failed' } as const
const MINUTE = 60_000

const renderReport = (node: SimulatedNode): string => {
  const { prefix, own, chain, heights } = node
  const now = node.now()
  const condition = node.condition()
  const { services, statesync } = condition
  const local = heights.execution(now)
  const external = chain.headAt(now).seqNum
  const block = chain.block(heights.consensus(now))
  const runs = services.bft.state === 'active'
  const answers = rpcListens(condition, now)
  const passed = Math.floor(now / MINUTE) % 60
  const signature = digest(own.publicKey, 'signature', 1) + digest(own.publicKey, 'signature', 2)
  return [
    `### ${capitalised(prefix)} Node Status`,
    'hostname: simulated',
    `date: ${new Date(now).toUTCString().replace(',', '').replace('GMT', 'UTC')}`,
    `uptime: ${uptime(runs ? now - services.bft.startedMs : 0)}`,
    `version: ${installedVersion(condition.versions)}`,
    'config:',
    '  network: simulated',
    `  chain: ${prefix}_simulated`,
    `  chainId: ${CHAIN_ID}`,
    `  secpPublicKey: ${own.publicKey}`,
    `  blsPublicKey: ${keyPairOf(own.sealed.bls, 'bls').publicKey}`,
    `  nodeSignature: ${signature}01`,
    `  selfAddress: ${own.address}`,
    '  recordSeqNum: 3',
    'services:',
    ...ROLES.filter((role) => role !== 'ledger-tail').map(
      (role) => `  ${role === 'otelcol' ? role : `${prefix}-${role}`}: ${SUB_STATE[services[role].state]}`,
    ),
    `  ${prefix}-cruft:`,
    '    activated: true',
    `    previous: ${passed}min ago`,
    `    next: ${60 - passed}min`,
    'peers:',
    `  peersNumber: ${runs ? 187 + (passed % 9) : 0}`,
    'consensus:',
    `  status: ${external - local < 10n ? 'in-sync' : 'out-of-sync'}`,
    `  mode: ${isSyncing(condition, now) ? 'syncing' : 'live'}`,
    `  epoch: ${block?.epoch ?? ''}`,
    `  round: ${block?.round ?? ''}`,
    `  blockNumber: ${local}`,
    `  blockNumberFromExternal: ${external}`,
    `  blockDifference: ${external - local}`,
    ...statesyncSection(progressAt(chain, statesync, now)),
    'rpc:',
    `  status: ${answers ? 'active' : 'inactive'}`,
    `  clientVersion: ${answers ? clientVersionOf(node) : ''}`,
    `  netVersion: ${answers ? CHAIN_ID : ''}`,
    `  blockNumber: ${answers ? heights.rpc(now) : ''}`,
    '',
  ].join('\n')
}

/** Rounded down to four decimals; a plain 0 if there never was a target. */
const statesyncSection = ({ progress, target }: Progress): readonly string[] => [
  'statesync:',
  `  percentage: ${target === 0n ? '0' : (Number((1_000_000n * progress) / target) / 10_000).toFixed(4)}%`,
  `  progress: ${progress}`,
  `  target: ${target}`,
]

/** `2d 05h 12m 09s` */
const uptime = (ms: number): string => {
  const seconds = Math.floor(ms / 1000)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const [days, hours] = [Math.floor(seconds / 86_400), (seconds % 86_400) / 3600]
  return `${days}d ${two(hours)}h ${two((seconds % 3600) / 60)}m ${two(seconds % 60)}s`
}
