import { figure, joinList, percent, shortDuration } from '../core/format.ts'
import { second } from '../core/units.ts'
import { chainIdOf, databaseUsedRatio, newestBlock } from '../domain/agreement.ts'
import {
  clockOf,
  collectorsOf,
  isReady,
  isWatcher,
  keyFilesOf,
  noBlockReason,
  portsOf,
  referencesText,
  servicesDown,
  servicesOf,
} from './facts.ts'
import { notificationsOf } from './notifications.ts'
import type { HealthInput, NodeSnapshot } from './snapshot.ts'

/** One fact about the node, in a line; null is unknown. */
export interface Fact {
  readonly label: string
  readonly value: string | null
}

/** The facts behind a health verdict, good or bad, with the nearest deadlines first. A watcher has few of them. */
export const summarize = (input: SummaryInput): readonly Fact[] =>
  Object.entries(FACTS)
    .map(([label, valueOf]) => ({ label, value: valueOf(input) }))
    .filter(({ value }) => value !== null || !isWatcher(input.known))

type SummaryInput = HealthInput & Pick<NodeSnapshot, 'origin' | 'outbound'>

/** The forks ahead, the next first, with whether the node is ready; null if they are unknown. */
const forksAhead = ({
  readings: { version },
  known,
  at,
}: Pick<HealthInput, 'readings' | 'known' | 'at'>): readonly string[] | null => {
  // Without the chain id, the list of its forks is not known to be empty.
  if (!version?.forks || (version.forks.length === 0 && chainIdOf(known) === null)) return null
  return version.forks
    .flatMap(({ fork: { name, activationAt }, checks }) =>
      activationAt === null || activationAt <= at ? [] : [{ name: name ?? 'unknown', activationAt, checks }],
    )
    .toSorted((a, b) => a.activationAt - b.activationAt)
    .map(({ name, activationAt, checks }) => {
      const unknown = checks.filter(({ ready }) => ready === null).map(({ check }) => check ?? 'unknown')
      const ready = isReady({ checks })
      const state = ready === null ? `unknown whether ready: ${joinList(unknown)}` : ready ? 'ready' : 'not ready'
      return `${name} in ${shortDuration(activationAt - at)}: ${state}`
    })
}

const forks = (input: HealthInput): string | null => {
  const ahead = forksAhead(input)
  return ahead?.length === 0 ? 'none known for this network' : (ahead?.join('; ') ?? null)
}

const services = ({ known }: HealthInput): string | null => {
  const all = servicesOf(known)
  if (all.length === 0) return null
  const down = servicesDown(known)
  const running = all.filter(({ isActive }) => isActive).map(({ service }) => service)
  const run = `${joinList(running) || 'none'} ${running.length === 1 ? 'runs' : 'run'}`
  return down.length === 0 ? run : `${joinList(down)} down; ${run}`
}

const chain = ({ known, at }: HealthInput): string | null => {
  const block = newestBlock(known)
  const reason = noBlockReason(known)
  if (reason !== undefined) return reason
  if (!block) return null
  const difference = known.value('chain_block_difference')
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
  const { offsetSeconds, isSynchronized } = clockOf(known)
  if (offsetSeconds !== undefined) return `${(Math.abs(offsetSeconds) * second).toFixed(1)} ms off`
  if (isSynchronized === undefined) return null
  return isSynchronized ? 'synchronised by a time service' : 'not synchronised'
}

const ports = ({ known }: HealthInput): string | null => {
  const found = portsOf(known)
  if (!found) return null
  const { checked, exposed } = found
  return exposed.length === 0
    ? `${joinList(checked)} not open to every address`
    : `${joinList(exposed)} open to every address`
}

const keys = ({ known }: HealthInput): string | null => {
  const all = keyFilesOf(known)
  const intact = all.filter(({ state }) => state === 'ok')
  return all.length === 0 ? null : `${intact.length} of ${all.length} files ok`
}

const references = (input: HealthInput): string => {
  const text = referencesText(input)
  return input.known.series('chain_reference_up').length > 0
    ? text
    : `${text}: the difference to the network is unknown`
}

const notifications = (input: SummaryInput): string => {
  const { text, next, heartbeat } = notificationsOf(input)
  const explained = next === null ? '' : ` (${next})`
  return `${text}${explained}${heartbeat ? `; heartbeat ${heartbeat.text}` : ''}`
}

const FACTS: Readonly<Record<string, (input: SummaryInput) => string | null>> = {
  forks,
  services,
  chain,
  references,
  storage,
  versions,
  clock,
  ports,
  'key files': keys,
  agent: (input) => collectorsOf(input).text,
  alerts: notifications,
}
