import { duration, figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { type JournalRule, matchIf, type RuleInput, type Severity, windowOf } from './rule.ts'

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
export const blockAge = ({ known, at }: RuleInput): number | null => {
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
