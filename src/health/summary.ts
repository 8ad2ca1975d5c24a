import { figure, joinList, percent, shortDuration } from '../core/format.ts'
import { second } from '../core/units.ts'
import { databaseUsedRatio, isStarting, isSyncing, newestBlock } from '../domain/agreement.ts'
import { servicesDown } from './facts.ts'
import type { HealthInput } from './snapshot.ts'

/** One fact about the node, in a line; null is unknown. */
export interface Fact {
  readonly label: string
  readonly value: string | null
}

/** The facts behind a health verdict, good or bad, with the nearest deadlines first. */
export const summarize = (input: HealthInput): readonly Fact[] =>
  FACTS.map(([label, valueOf]) => ({ label, value: valueOf(input) }))

const forks = ({ readings: { version }, at }: HealthInput): string | null => {
  if (!version?.forks) return null
  const ahead = version.forks
    .flatMap(({ fork: { name, activationAt }, checks }) =>
      activationAt === null || activationAt <= at ? [] : [{ name: name ?? 'unknown', activationAt, checks }],
    )
    .toSorted((a, b) => a.activationAt - b.activationAt)
    .map(({ name, activationAt, checks }) => {
      const unknown = checks.filter(({ ready }) => ready === null).map(({ check }) => check ?? 'unknown')
      const state = checks.some(({ ready }) => ready === false)
        ? 'not ready'
        : unknown.length > 0
          ? `unknown whether ready: ${joinList(unknown)}`
          : 'ready'
      return `${name} in ${shortDuration(activationAt - at)}: ${state}`
    })
  return ahead.length > 0 ? ahead.join('; ') : 'none known for this network'
}

const services = ({ known }: HealthInput): string | null => {
  const all = known.series('chain_service_active').map(({ labels }) => labels['service'] ?? '')
  if (all.length === 0) return null
  const down = servicesDown(known)
  const running = all.filter((service) => known.value('chain_service_active', { service }) === 1)
  const run = `${joinList(running) || 'none'} ${running.length === 1 ? 'runs' : 'run'}`
  return down.length === 0 ? run : `${joinList(down)} down; ${run}`
}

const chain = ({ known, at }: HealthInput): string | null => {
  const block = newestBlock(known)
  if (isSyncing(known)) return 'statesync: no block until it is complete'
  if (isStarting(known)) return 'start: no block until consensus is live'
  if (!block) return null
  const difference = known.value('chain_blocks_behind')
  return [
    `block ${figure(block.height)}`,
    `${shortDuration(at - block.time * second)} old`,
    difference === undefined
      ? 'difference to the network unknown'
      : difference > 0
        ? `${figure(difference)} behind the network`
        : 'level with the network',
  ].join(', ')
}

const versions = ({ known }: HealthInput): string | null => {
  const of = (name: 'chain_package_info' | 'chain_node_running_info'): readonly string[] => [
    ...new Set(known.series(name).map(({ labels }) => labels['version'] ?? '')),
  ]
  const [installed, running] = [of('chain_package_info'), of('chain_node_running_info')]
  if (installed.length === 0 && running.length === 0) return null
  return `installed ${joinList(installed) || 'unknown'}, running ${joinList(running) || 'unknown'}`
}

const storage = ({ known }: HealthInput): string | null => {
  const used = databaseUsedRatio(known)
  if (used === undefined) return null
  const blocks = known.value('chain_storage_history_blocks', { timeline: 'primary' })
  return `${percent(used)} of the database used${blocks === undefined ? '' : `, ${figure(blocks)} blocks of history`}`
}

const clock = ({ known }: HealthInput): string | null => {
  const offset = known.value('chain_host_clock_offset_seconds')
  const isSynchronized = known.value('chain_host_clock_synchronized')
  if (offset !== undefined) return `${(Math.abs(offset) * second).toFixed(1)} ms off`
  return isSynchronized === undefined
    ? null
    : isSynchronized === 1
      ? 'synchronised by a time service'
      : 'not synchronised'
}

const ports = ({ known }: HealthInput): string | null => {
  const all = known.series('chain_host_port_exposed')
  const open = all.filter(({ value }) => value === 1).map(({ labels }) => labels['port'] ?? '')
  if (all.length === 0) return null
  return open.length === 0
    ? `${joinList(all.map(({ labels }) => labels['port'] ?? ''))} not open to every address`
    : `${joinList(open)} open to every address`
}

const keys = ({ known }: HealthInput): string | null => {
  const all = known.series('chain_key_file_state').filter(({ value }) => value === 1)
  const intact = all.filter(({ labels }) => labels['state'] === 'ok')
  return all.length === 0 ? null : `${intact.length} of ${all.length} files ok`
}

const references = ({ known }: HealthInput): string | null => {
  const all = known.series('chain_reference_up')
  if (all.length === 0) return 'none configured: the difference to the network is unknown'
  const up = all.filter(({ value }) => value === 1)
  return `${up.length} of ${all.length} answer`
}

const agent = ({ collectors }: HealthInput): string => {
  const enabled = collectors.filter((one) => one.enabled)
  const up = enabled.filter((one) => one.up === true)
  return `${up.length} of ${enabled.length} collectors ok`
}

const FACTS: readonly (readonly [string, (input: HealthInput) => string | null])[] = [
  ['forks', forks],
  ['services', services],
  ['chain', chain],
  ['references', references],
  ['storage', storage],
  ['versions', versions],
  ['clock', clock],
  ['ports', ports],
  ['key files', keys],
  ['agent', agent],
]
