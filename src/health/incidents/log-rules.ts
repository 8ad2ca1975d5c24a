import { duration, figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { type JournalRule, matchIf, percent, type RuleInput, type Severity, windowOf } from './rule.ts'
import type { DURATION_BOUNDS } from './counter-history.ts'

const AGE_CRITICAL_S = 30
const AGE_WARNING_S = 10
const DEADLOCK_WITHIN = 2 * minute
const WINDOW_CRITICAL = 300
const WINDOW_WARNING = 450
const SYNCED_WITHIN = minute
const NOISE_WITHIN = 5 * minute
const BOOT_S = 3600

const isSyncing = ({ known }: RuleInput): boolean => known.value('chain_consensus_statesync_active') === 1

/**
 * Age of the newest block that the ledger stream or execution reports, in milliseconds; null while neither does. The
 * alert rules use the RPC instead of execution: it serves executed blocks.
 */
const blockAge = ({ known, at }: RuleInput): number | null => {
  const reported = [
    known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
    known.value('chain_execution_block_timestamp_seconds'),
  ].filter((seconds) => seconds !== undefined)
  return reported.length === 0 ? null : at - Math.max(...reported) * second
}

const stalled = (severity: Severity, limit: number): JournalRule => ({
  alert: 'ChainBlockStalled',
  severity,
  for: 30 * second,
  figures: [`> ${limit}`, '== 1', 'bft|execution'],
  find: (input) => {
    const age = blockAge(input)
    if (age === null || isSyncing(input)) return []
    const isServiceDown = input.down.has('bft') || input.down.has('execution')
    return matchIf(
      age > limit * second && !isServiceDown,
      age,
      () => `no new block; the newest was ${duration(age)} old`,
    )
  },
})

const window = (severity: Severity, limit: number): JournalRule => ({
  alert: 'ChainBlocksyncWindow',
  severity,
  figures: [`< ${limit}`, '== 1', windowOf(SYNCED_WITHIN)],
  find: (input) => {
    const { at, known, syncedAt } = input
    const left = known.value('chain_blocksync_window_remaining_blocks')
    const hasSynced = syncedAt !== null && at - syncedAt <= SYNCED_WITHIN
    // If only the ledger stream stopped, the node itself is not behind.
    const isBehind = (blockAge(input) ?? 0) > AGE_CRITICAL_S * second
    return matchIf(
      left !== undefined && left < limit && isBehind && !hasSynced,
      -(left ?? 0),
      () => `${figure(Math.round(left ?? 0))} blocks were left of the blocksync window`,
    )
  },
})

const noise = (severity: Severity, errors: number, peers: number): JournalRule => ({
  alert: 'ChainNetworkNoise',
  severity,
  keep: 5 * minute,
  figures: [`> ${errors}`, `>= ${peers}`, windowOf(NOISE_WITHIN)],
  find: ({ known, counters }) => {
    const count = counters.increase('chain_consensus_network_errors_total', NOISE_WITHIN)
    const from = known.value('chain_consensus_network_error_peers') ?? 0
    return matchIf(
      count > errors && from >= peers,
      count,
      () => `${figure(count)} errors of the network layer in five minutes, from ${figure(from)} peers`,
    )
  },
})

/** Rules about blocks and the network. */
export const consensusRules: readonly JournalRule[] = [
  stalled('critical', AGE_CRITICAL_S),
  stalled('warning', AGE_WARNING_S),
  {
    alert: 'ChainConsensusDeadlock',
    severity: 'critical',
    for: minute,
    figures: ['local_timeout', '> 0', '== 0', '== 1', windowOf(DEADLOCK_WITHIN)],
    find: (input) => {
      const of = (kind: string): number =>
        input.counters.increase('chain_consensus_messages_total', DEADLOCK_WITHIN, { kind })
      const blocks = input.counters.increase('chain_ledger_blocks_total', DEADLOCK_WITHIN)
      const timeouts = of('local_timeout')
      const hasNoBlock = blocks === 0 && of('committed_block') === 0
      return matchIf(
        timeouts > 0 && hasNoBlock && !isSyncing(input),
        timeouts,
        () => `${figure(timeouts)} local timeouts in two minutes, and no block`,
      )
    },
  },
  window('critical', WINDOW_CRITICAL),
  window('warning', WINDOW_WARNING),
  {
    alert: 'ChainStatesync',
    severity: 'info',
    for: 30 * second,
    figures: ['== 1'],
    find: (input) => matchIf(isSyncing(input), 1, () => 'the node fetched its state from its peers'),
  },
  noise('critical', 50, 3),
  noise('warning', 25, 2),
  {
    alert: 'ChainRebootedNotSyncing',
    severity: 'critical',
    for: 5 * minute,
    figures: [`< ${BOOT_S}`, `<= ${AGE_CRITICAL_S}`, '== 1'],
    find: (input) => {
      const { at, bootedAt } = input
      const age = blockAge(input)
      const isHealthy = isSyncing(input) || (age !== null && age <= AGE_CRITICAL_S * second)
      const isFresh = bootedAt !== null && at - bootedAt < BOOT_S * second
      return matchIf(isFresh && !isHealthy, 1, () => 'no block since the host was rebooted')
    },
  },
]

const SLOW_WITHIN = 2 * minute
const SLOW_SHARE = 0.5
const FULL = 0.85
const COMPACTING = 0.8
const COMPACTION_SOON_S = 172_800
const DROPPED_WITHIN = 15 * minute
const DRIFT_WITHIN = 15 * minute
const DRIFT_SHARE = 0.01
const FROZEN_S = 60
const ADVANCING_S = 30

const slow = (severity: Severity, bound: (typeof DURATION_BOUNDS)[number], holds: number): JournalRule => ({
  alert: 'ChainExecutionSlow',
  severity,
  for: holds,
  figures: [`le="${bound}"`, `< ${SLOW_SHARE}`, windowOf(SLOW_WITHIN)],
  find: ({ counters }) => {
    const share = counters.shareWithin(bound, SLOW_WITHIN)
    return matchIf(
      share !== null && share < SLOW_SHARE,
      1 - (share ?? 0),
      () => `${percent(1 - (share ?? 0))} of the blocks took more than ${bound * 1000} ms`,
    )
  },
})

const filled = (
  { alert, severity, for: holds }: Pick<JournalRule, 'alert' | 'severity' | 'for'>,
  limit: number,
): JournalRule => ({
  alert,
  severity,
  ...(holds !== undefined && { for: holds }),
  figures: [`> ${limit}`],
  find: ({ known }) => {
    const used = known.value('chain_execution_storage_used_ratio')
    return matchIf(used !== undefined && used > limit, used ?? 0, () => `the database was ${percent(used ?? 0)} full`)
  },
})

const freeChunks = (severity: Severity, limit: number): JournalRule => ({
  alert: 'ChainStorageFreeChunksLow',
  severity,
  figures: [`< ${limit}`],
  find: ({ known }) => {
    const lists = known.series('chain_execution_storage_chunks')
    const all = lists.reduce((sum, { value }) => sum + value, 0)
    const free = known.value('chain_execution_storage_chunks', { list: 'free' })
    const share = free === undefined || all === 0 ? null : free / all
    return matchIf(
      share !== null && share < limit,
      -(share ?? 0),
      () => `${percent(share ?? 0)} of the database's chunks were free`,
    )
  },
})

/** Rules about execution, its database and the journal itself. */
export const journalRules: readonly JournalRule[] = [
  slow('warning', 0.01, 2 * minute),
  slow('critical', 0.05, minute),
  filled({ alert: 'ChainStorageFull', severity: 'critical', for: 15 * minute }, FULL),
  filled({ alert: 'ChainStorageCompacting', severity: 'info', for: 30 * minute }, COMPACTING),
  freeChunks('critical', 0.05),
  freeChunks('warning', 0.1),
  {
    alert: 'ChainStorageCompactionSoon',
    severity: 'warning',
    for: 60 * minute,
    figures: [`< ${COMPACTION_SOON_S}`, '> 0'],
    find: ({ known }) => {
      const left = known.value('chain_storage_seconds_until_compaction') ?? Infinity
      return matchIf(
        left > 0 && left < COMPACTION_SOON_S,
        -left,
        () => `the database was ${duration(left * second)} from compaction`,
      )
    },
  },
  {
    alert: 'ChainLogsIncomplete',
    severity: 'warning',
    for: 30 * second,
    figures: ['> 0', windowOf(DROPPED_WITHIN)],
    find: ({ counters }) =>
      counters
        .increases('chain_log_suppressed_messages_total', DROPPED_WITHIN)
        .flatMap(({ labels: { service = '' }, value }) =>
          value > 0 ? [{ subject: service, value, says: `journald dropped ${value} lines of ${service}` }] : [],
        ),
  },
  {
    alert: 'ChainFormatDrift',
    severity: 'warning',
    for: 20 * minute,
    figures: ['result="unparsed"', `> ${DRIFT_SHARE}`, windowOf(DRIFT_WITHIN)],
    find: ({ counters }) => {
      const name = 'chain_agent_lines_total'
      return counters
        .increases(name, DRIFT_WITHIN, { result: 'unparsed' })
        .flatMap(({ labels: { format = '' }, value }) => {
          const share = value / counters.increase(name, DRIFT_WITHIN, { format })
          const says = `${percent(share)} of the lines of ${format} could not be parsed`
          return value > 0 && share > DRIFT_SHARE ? [{ subject: format, value: share, says }] : []
        })
    },
  },
  {
    alert: 'ChainLogsIncomplete',
    severity: 'warning',
    for: minute,
    figures: ['execution|ledger-tail', `> ${FROZEN_S}`, `< ${ADVANCING_S}`, '== 0', '[10m]'],
    find: (input) => {
      const { known, at, down } = input
      // The alert rule uses the RPC to see whether blocks arrive; here the other of the two streams shows it.
      const age = blockAge(input)
      if (age === null || age >= ADVANCING_S * second) return []
      return known
        .series('chain_agent_journal_last_entry_timestamp_seconds')
        .flatMap(({ labels: { service = '' }, value }) => {
          const silent = at - value * second
          const isWatched = service === 'execution' || service === 'ledger-tail'
          const says = `${service} wrote nothing for ${duration(silent)} although blocks arrived`
          return isWatched && silent > FROZEN_S * second && !down.has(service)
            ? [{ subject: service, value: silent, says }]
            : []
        })
    },
  },
]
