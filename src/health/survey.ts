import { z } from 'zod'
import { second } from '../core/units.ts'
import { isSyncing, databaseUsedRatio } from '../core/agreement.ts'
import { newestBlock, servicesDown } from './facts.ts'
import type { Evidence } from './finding.ts'
import { timestamp } from './picture.ts'
import { figure, list, percent, roughly } from './words.ts'

/** What is known of one matter, in a line; null is unknown. */
export interface Fact {
  readonly matter: string
  readonly says: string | null
}

/** The facts behind a verdict, whether good or bad, what is soonest to be missed first. */
export const survey = (evidence: Evidence): readonly Fact[] =>
  MATTERS.map(([matter, tell]) => ({ matter, says: tell(evidence) }))

const forksSchema = z.object({
  forks: z.array(
    z.object({
      fork: z.object({ name: z.string(), activationAt: timestamp }),
      checks: z.array(z.object({ check: z.string(), ready: z.boolean().nullable() })),
    }),
  ),
})

const forks = ({ collectors, at }: Evidence): string | null => {
  const told = collectors.find(({ name }) => name === 'version')
  const { data } = forksSchema.safeParse(told?.reading)
  if (!data) return null
  const ahead = data.forks
    .filter(({ fork }) => fork.activationAt > at)
    .toSorted((a, b) => a.fork.activationAt - b.fork.activationAt)
    .map(({ fork, checks }) => {
      const unknown = checks.filter(({ ready }) => ready === null).map(({ check }) => check)
      const state = checks.some(({ ready }) => ready === false)
        ? 'not ready'
        : unknown.length > 0
          ? `unknown whether ready: ${list(unknown)}`
          : 'ready'
      return `${fork.name} in ${roughly(fork.activationAt - at)}: ${state}`
    })
  return ahead.length > 0 ? ahead.join('; ') : 'none is known of for this network'
}

const services = ({ known }: Evidence): string | null => {
  const all = known.series('chain_service_active').map(({ labels }) => labels['service'] ?? '')
  if (all.length === 0) return null
  const down = servicesDown(known)
  const running = all.filter((service) => known.value('chain_service_active', { service }) === 1)
  const run = `${list(running) || 'none'} ${running.length === 1 ? 'runs' : 'run'}`
  return down.length === 0 ? run : `${list(down)} down; ${run}`
}

const chain = ({ known, at }: Evidence): string | null => {
  const block = newestBlock(known)
  if (isSyncing(known)) return 'statesync: no block until it is done'
  if (!block) return null
  const difference = known.value('chain_block_difference')
  return [
    `block ${figure(block.height)}`,
    `${roughly(at - block.time * second)} old`,
    difference === undefined
      ? 'how far the network is ahead is unknown'
      : difference > 0
        ? `${figure(difference)} behind the network`
        : 'level with the network',
  ].join(', ')
}

const versions = ({ known }: Evidence): string | null => {
  const of = (name: 'chain_package_info' | 'chain_node_running_info'): readonly string[] => [
    ...new Set(known.series(name).map(({ labels }) => labels['version'] ?? '')),
  ]
  const [installed, running] = [of('chain_package_info'), of('chain_node_running_info')]
  if (installed.length === 0 && running.length === 0) return null
  return `installed ${list(installed) || 'unknown'}, running ${list(running) || 'unknown'}`
}

const storage = ({ known }: Evidence): string | null => {
  const used = databaseUsedRatio(known)
  if (used === undefined) return null
  const blocks = known.value('chain_storage_history_blocks', { timeline: 'primary' })
  return `${percent(used)} of the database used${blocks === undefined ? '' : `, ${figure(blocks)} blocks of history`}`
}

const clock = ({ known }: Evidence): string | null => {
  const offset = known.value('chain_host_clock_offset_seconds')
  const isKept = known.value('chain_host_clock_synchronized')
  if (offset !== undefined) return `${(Math.abs(offset) * second).toFixed(1)} ms off`
  return isKept === undefined ? null : isKept === 1 ? 'kept by a time service' : 'kept by nobody'
}

const ports = ({ known }: Evidence): string | null => {
  const all = known.series('chain_host_port_exposed')
  const open = all.filter(({ value }) => value === 1).map(({ labels }) => labels['port'] ?? '')
  if (all.length === 0) return null
  return open.length === 0
    ? `${list(all.map(({ labels }) => labels['port'] ?? ''))} not open to every address`
    : `${list(open)} open to every address`
}

const keys = ({ known }: Evidence): string | null => {
  const all = known.series('chain_key_file_state').filter(({ value }) => value === 1)
  const well = all.filter(({ labels }) => labels['state'] === 'ok')
  return all.length === 0 ? null : `${well.length} of ${all.length} files in order`
}

const references = ({ known }: Evidence): string | null => {
  const all = known.series('chain_reference_up')
  if (all.length === 0) return 'none is configured: how far ahead the network is, is not known'
  const up = all.filter(({ value }) => value === 1)
  return `${up.length} of ${all.length} answer`
}

const read = ({ collectors }: Evidence): string => {
  const asked = collectors.filter(({ enabled }) => enabled)
  const up = asked.filter((one) => one.up === true)
  return `${up.length} of ${asked.length} collectors could read`
}

const MATTERS: readonly (readonly [string, (evidence: Evidence) => string | null])[] = [
  ['forks', forks],
  ['services', services],
  ['chain', chain],
  ['references', references],
  ['storage', storage],
  ['versions', versions],
  ['clock', clock],
  ['ports', ports],
  ['key files', keys],
  ['agent', read],
]
