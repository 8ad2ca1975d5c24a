import { databaseUsedRatio, newestBlock, type StatesyncProgress } from '../domain/agreement.ts'
import type { SampleIndex } from '../core/metric.ts'
import { second } from '../core/units.ts'
import type { HealthInput } from './snapshot.ts'
import { figure, percent, shortDuration } from '../core/format.ts'

/** Age of the newest block, in seconds. */
export const blockAge = ({ known, at }: Pick<HealthInput, 'known' | 'at'>): number | undefined => {
  const block = newestBlock(known)
  return block && Math.max(0, at / second - block.time)
}

const RECENT_S = 10

/**
 * Whether a block arrived in the last 10 s, however old the block itself is: the RPC height increased, or the ledger
 * stream has a recent entry and consensus commits. The ledger stream alone is not enough: it also has entries of its
 * own start and of old blocks.
 */
export const isAdvancing = ({ known, at }: Pick<HealthInput, 'known' | 'at'>): boolean => {
  const isRecent = (time: number | undefined): boolean => time !== undefined && at / second - time < RECENT_S
  const lastLedgerEntry = known.value('chain_agent_journal_last_entry_timestamp_seconds', {
    service: 'ledger-tail',
  })
  return (
    isRecent(known.value('chain_rpc_last_advance_timestamp_seconds')) ||
    (isRecent(lastLedgerEntry) && known.value('chain_consensus_committing') === 1)
  )
}

/** Labels of services that should run and do not, including those that systemd does not know. */
export const servicesDown = (known: SampleIndex): readonly string[] =>
  known
    .series('chain_service_active')
    .filter(({ value }) => value === 0)
    .map(({ labels }) => labels['service'] ?? '')
    .filter((service) => known.value('chain_service_expected', { service }) === 1)

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

/** Why no proposal may reach a full node. */
export const isolationOf = (known: SampleIndex): readonly string[] =>
  known.value('chain_native_upstream_validators') === 0 ? ['No validator feeds this node.'] : []

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

export interface MaintenanceWindow {
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly until: number
  /** Time left, as text. */
  readonly left: string
}

/** The maintenance window that is set now; undefined if none is. */
export const maintenanceWindow = ({
  readings: { maintenance },
  at,
}: Pick<HealthInput, 'readings' | 'at'>): MaintenanceWindow | undefined => {
  const { reason = null, until: end = null } = maintenance ?? {}
  const until = end === null ? 0 : Date.parse(end)
  return reason === null || until <= at ? undefined : { reason, until, left: shortDuration(until - at) }
}
