import type { Readings } from '../collectors/index.ts'
import {
  databaseUsedRatio,
  isStarting,
  isSyncing,
  newestBlock,
  type StatesyncProgress,
  USUAL_RATE,
} from '../domain/agreement.ts'
import type { SampleIndex } from '../core/metric.ts'
import { second } from '../core/units.ts'
import { isUnreadable, LOG_STATES } from '../domain/log-state.ts'
import type { HealthInput } from './snapshot.ts'
import { count, figure, joinList, percent, shortDuration } from '../core/format.ts'

/** Age of the newest block, in seconds. */
export const blockAge = ({ known, at }: Pick<HealthInput, 'known' | 'at'>): number | undefined => {
  const block = newestBlock(known)
  return block && Math.max(0, at / second - block.time)
}

/** The summary for a host whose systemd has answered that it knows none of the units. */
export const NO_NODE = 'there is no node on this host, or none that this user can see'
/** The summary for a node of which nothing is known because no source has answered. */
export const NO_ANSWER = 'neither systemd nor the RPC of the node answers: the state of the node is unknown'

export const RPC_SILENT = "The address of the node's RPC does not answer."

/** What came from systemd instead of an answer; without a full stop. */
export const systemdFailure = ({ collectors }: Pick<HealthInput, 'collectors'>): string => {
  const [what, output] = collectors.find(({ name }) => name === 'services')?.error?.message.split('\n') ?? []
  return `systemd: ${[what ?? 'no reading', ...(output === undefined ? [] : [output.trim()])].join('; ').replace(/\.$/, '')}`
}

/** Why there is no new block and none is expected; undefined if one is. */
export const noBlockReason = (known: SampleIndex): string | undefined => {
  if (isSyncing(known)) return 'statesync: no block until it is complete'
  return isStarting(known) ? 'start: no block until consensus is live' : undefined
}

/** Blocks per second of the network; the usual rate until it is measured. */
export const blockRate = (known: SampleIndex): number => {
  const measured = known.value('chain_blocks_per_second')
  return measured === undefined || measured === 0 ? USUAL_RATE : measured
}

/** The last measured rate as text, with its age while no block arrives; undefined if there is none. */
export const networkRateText = ({ known, at }: Pick<HealthInput, 'known' | 'at'>): string | undefined => {
  const rate = known.value('chain_blocks_per_second')
  const age = blockAge({ known, at }) ?? 0
  return rate?.toFixed(2).concat(age > FRESH_S ? `, measured ${shortDuration(age * second)} ago` : '')
}

/** Why there is no rate. */
export const noRateReason = ({ known, at }: Pick<HealthInput, 'known' | 'at'>): string => {
  const age = blockAge({ known, at }) ?? 0
  return age > FRESH_S
    ? `not measured: it needs blocks of 20 s, and the newest is ${shortDuration(age * second)} old`
    : 'not measured yet: it needs blocks of 20 s'
}

/** The reservation of what follows from the block rate: empty if it is measured. */
export const assumedRateText = (known: SampleIndex): string =>
  known.value('chain_blocks_per_second') === undefined ? `, at an assumed ${USUAL_RATE} blocks a second` : ''

/** Seconds: a healthy node has a block every third of a second, and reports it within 5 s. */
export const FRESH_S = 10

/** A difference in blocks that is more than what passes between two requests. */
export const BEHIND_BLOCKS = 15

/** Why the rest of the blocksync window is unknown. */
export const NO_WINDOW = 'requires own height and network height; none during statesync'

/** Whether the agent watches another host's node, and none of its own. */
export const isWatcher = (known: SampleIndex): boolean =>
  known.series('chain_agent_build_info').some(({ labels }) => labels['profile'] === 'watcher')

/** What a watcher has last received, as text. */
export const watchedText = ({ readings, at }: Pick<HealthInput, 'readings' | 'at'>): string => {
  const { node = null, receivedAt = null, heartbeat } = readings.watched ?? {}
  if (node === null) return 'no node is watched: set `watched.name`'
  if (receivedAt === null) return `no heartbeat of ${node} was received yet`
  return `${node} reported ${heartbeat?.health ?? 'nothing'} ${shortDuration(at - receivedAt)} ago`
}

export const NO_REFERENCES = 'none configured'

/** The references that answer, as text. */
export const referencesText = ({ known, collectors }: Pick<HealthInput, 'known' | 'collectors'>): string => {
  const all = known.series('chain_reference_up')
  const up = all.filter(({ value }) => value === 1)
  if (all.length > 0) return `${up.length} of ${all.length} answer`
  return collectors.some(({ name, enabled }) => name === 'reference' && enabled) ? 'no reading' : NO_REFERENCES
}

const RECENT_S = 10

/**
 * Whether a block arrived in the last 10 s, however old the block itself is: the RPC height increased, or the ledger
 * stream has a recent entry and consensus commits. The ledger stream alone is not enough: it also has entries of its
 * own start and of old blocks.
 */
export const isAdvancing = ({ known, at }: Pick<HealthInput, 'known' | 'at'>): boolean => {
  const isRecent = (time: number | undefined): boolean => time !== undefined && at / second - time < RECENT_S
  const lastLedgerEntry = known.value('chain_agent_journal_last_entry_timestamp_seconds', { service: 'ledger-tail' })
  return (
    isRecent(known.value('chain_rpc_last_advance_timestamp_seconds')) ||
    (isRecent(lastLedgerEntry) && known.value('chain_consensus_committing') === 1)
  )
}

/** The services of the node; empty if systemd reported none. */
export const servicesOf = (known: SampleIndex) =>
  known
    .series('chain_service_active')
    .map(({ labels, value }) => ({ service: labels['service'] ?? '', isActive: value === 1 }))

/** Labels of services that should run and do not, including those that systemd does not know. */
export const servicesDown = (known: SampleIndex): readonly string[] =>
  servicesOf(known)
    .filter(({ service, isActive }) => !isActive && known.value('chain_service_expected', { service }) === 1)
    .map(({ service }) => service)

/** Whether one of these services is down. */
export const isNodeDown = (known: SampleIndex, ...services: readonly string[]): boolean =>
  servicesDown(known).some((service) => services.includes(service))

/** Free share of the chunks of the database, 0 to 1. */
export const freeChunks = (known: SampleIndex): number | undefined => {
  for (const name of ['chain_execution_storage_chunks', 'chain_storage_chunks'] as const) {
    const lists = known.series(name)
    const all = lists.reduce((sum, { value }) => sum + value, 0)
    const free = lists.find(({ labels }) => labels['list'] === 'free')
    if (free && all > 0) return free.value / all
  }
  return undefined
}

/** The file systems that the node uses; what is undefined is unknown. */
export const filesystemsOf = (known: SampleIndex) =>
  known.series('chain_host_filesystem_size_bytes').map(({ labels, value: sizeBytes }) => {
    const directory = labels['directory'] ?? ''
    const availableBytes = known.value('chain_host_filesystem_available_bytes', { directory })
    const freeRatio = availableBytes === undefined || sizeBytes === 0 ? undefined : availableBytes / sizeBytes
    return { directory, sizeBytes, availableBytes, freeRatio }
  })

/** Free share of the fullest file system, 0 to 1. */
export const lowestFreeRatio = (known: SampleIndex): number | undefined => {
  const ratios = filesystemsOf(known).flatMap(({ freeRatio }) => freeRatio ?? [])
  return ratios.length === 0 ? undefined : Math.min(...ratios)
}

/** The ports that should not be open to every address; undefined if they were not checked. */
export const portsOf = (known: SampleIndex) => {
  const ports = known
    .series('chain_host_port_exposed')
    .map(({ labels, value }) => ({ port: labels['port'] ?? '', value }))
  if (ports.length === 0) return undefined
  const exposed = ports.filter(({ value }) => value === 1)
  return { checked: ports.map(({ port }) => port), exposed: exposed.map(({ port }) => port) }
}

/** The clock of the host; what is undefined is unknown. */
export const clockOf = (known: SampleIndex) => {
  const synchronized = known.value('chain_host_clock_synchronized')
  return {
    isSynchronized: synchronized === undefined ? undefined : synchronized === 1,
    offsetSeconds: known.value('chain_host_clock_offset_seconds'),
  }
}

/** The state of each secret file of the node. */
export const keyFilesOf = (known: SampleIndex) =>
  known
    .series('chain_key_file_state')
    .filter(({ value }) => value === 1)
    .map(({ labels: { key = '', kind = '', state = '' } }) => ({ key, kind, state }))

type ForkReadiness = NonNullable<NonNullable<Readings['version']>['forks']>[number]

/** Whether the node is ready for a fork; null if a condition of the fork is unknown and none is false. */
export const isReady = ({ checks }: Pick<ForkReadiness, 'checks'>): boolean | null => {
  if (checks.some(({ ready }) => ready === false)) return false
  return checks.every(({ ready }) => ready === true) ? true : null
}

/** The services of whose log nothing can be read. */
const unreadLogs = (known: SampleIndex): readonly string[] =>
  known.series('chain_agent_log_state').flatMap(({ labels: { service = '', state }, value }) => {
    const current = LOG_STATES.find((one) => one === state)
    return value === 1 && isUnreadable(service, current) ? [service] : []
  })

/** How many of the enabled collectors have a fresh reading, as text, and the names of the others. */
export const collectorsOf = ({ collectors, known }: Pick<HealthInput, 'collectors' | 'known'>) => {
  const enabled = collectors.filter((one) => one.enabled)
  const failing = enabled.filter(({ up }) => up !== true).map(({ name }) => name)
  const unread = unreadLogs(known)
  const logs = unread.length === 0 ? '' : `; nothing is read from the log of ${joinList(unread)}`
  return { text: `${enabled.length - failing.length} of ${enabled.length} collectors ok${logs}`, failing }
}

/** Why no proposal may reach a full node. */
export const isolationOf = (known: SampleIndex): readonly string[] =>
  known.value('chain_native_upstream_validators') === 0 ? ['No validator feeds this node.'] : []

/** The connections of the node, and which number is bad. */
export const peersText = (known: SampleIndex): string => {
  const validators = known.value('chain_native_upstream_validators')
  const sessions = known.value('chain_native_sessions', { state: 'transport' })
  const shown = [
    ...(validators === undefined ? [] : [count(validators, 'upstream validator')]),
    ...(sessions === undefined ? [] : [count(sessions, 'transport session')]),
  ]
  return shown.length === 0 ? 'its metrics do not show them' : `${joinList(shown)}; 0 is bad`
}

/** `block 97,600,123 of 97,647,242` */
export const progressText = ({ block, target }: StatesyncProgress): string =>
  `block ${figure(block)} of ${figure(target)}`

/** What is known of the database, as a sentence. */
export const databaseEvidence = (known: SampleIndex): string => {
  const used = databaseUsedRatio(known)
  const timelines = known
    .series('chain_storage_timeline_info')
    .map(({ labels: { timeline = '', kind = '' } }) => `${timeline} timeline of kind ${kind}`)
  if (used === undefined && timelines.length === 0) {
    return 'Nothing is known of the database: its tool reported nothing.'
  }
  const facts = [...(used === undefined ? [] : [`${percent(used)} full`]), ...timelines]
  return `The database: ${facts.join(', ')}.`
}

/** The maintenance window that is set now, with its end and the time that is left as text; undefined if none is. */
export const maintenanceWindow = ({ readings: { maintenance }, at }: Pick<HealthInput, 'readings' | 'at'>) => {
  const { reason = null, until: end = null } = maintenance ?? {}
  const until = end === null ? 0 : Date.parse(end)
  return reason === null || until <= at ? undefined : { reason, until, left: shortDuration(until - at) }
}
