import { duration, figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { type AlertRow, foundIf, type Moment, type Severity, windowOf } from './row.ts'

const AGE_CRITICAL_S = 30
const AGE_WARNING_S = 10
const DEADLOCK_WITHIN = 2 * minute
const WINDOW_CRITICAL = 300
const WINDOW_WARNING = 450
const SYNCED_WITHIN = minute
const NOISE_WITHIN = 5 * minute
const BOOT_S = 3600

const isSyncing = ({ known }: Moment): boolean =>
  known.value('chain_consensus_statesync_active') === 1

/**
 * By the newest block that the ledger stream or execution told of, in milliseconds; null while neither
 * has. The rules have the RPC in the place of execution: it serves what was executed.
 */
export const blockAge = ({ known, at }: Moment): number | null => {
  const told = [
    known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
    known.value('chain_execution_block_timestamp_seconds'),
  ].filter((seconds) => seconds !== undefined)
  return told.length === 0 ? null : at - Math.max(...told) * second
}

const stalled = (severity: Severity, limit: number): AlertRow => ({
  alert: 'ChainBlockStalled',
  severity,
  for: 30 * second,
  figures: [`> ${limit}`, '== 1', 'bft|execution'],
  find: (moment) => {
    const age = blockAge(moment)
    if (age === null || isSyncing(moment)) return []
    const isExplained = moment.down.has('bft') || moment.down.has('execution')
    return foundIf(
      age > limit * second && !isExplained,
      age,
      () => `no block came; the newest was ${duration(age)} old`,
    )
  },
})

const window = (severity: Severity, limit: number): AlertRow => ({
  alert: 'ChainBlocksyncWindow',
  severity,
  figures: [`< ${limit}`, '== 1', windowOf(SYNCED_WITHIN)],
  find: (moment) => {
    const { at, known, syncedAt } = moment
    const left = known.value('chain_blocksync_window_remaining_blocks')
    const hasSynced = syncedAt !== null && at - syncedAt <= SYNCED_WITHIN
    // Where only the ledger stream stopped, it is the stream that is behind.
    const isBehind = (blockAge(moment) ?? 0) > AGE_CRITICAL_S * second
    return foundIf(
      left !== undefined && left < limit && isBehind && !hasSynced,
      -(left ?? 0),
      () => `${figure(Math.round(left ?? 0))} blocks were left until peers serve this node no more`,
    )
  },
})

const noise = (severity: Severity, errors: number, peers: number): AlertRow => ({
  alert: 'ChainNetworkNoise',
  severity,
  keep: 5 * minute,
  figures: [`> ${errors}`, `>= ${peers}`, windowOf(NOISE_WITHIN)],
  find: ({ known, tallies }) => {
    const count = tallies.increase('chain_consensus_network_errors_total', NOISE_WITHIN)
    const from = known.value('chain_consensus_network_error_peers') ?? 0
    return foundIf(
      count > errors && from >= peers,
      count,
      () =>
        `${figure(count)} errors of the network layer in five minutes, from ${figure(from)} peers`,
    )
  },
})

/** Blocks, and the network that they come from. */
export const consensusRows: readonly AlertRow[] = [
  stalled('critical', AGE_CRITICAL_S),
  stalled('warning', AGE_WARNING_S),
  {
    alert: 'ChainConsensusDeadlock',
    severity: 'critical',
    for: minute,
    figures: ['local_timeout', '> 0', '== 0', '== 1', windowOf(DEADLOCK_WITHIN)],
    find: (moment) => {
      const of = (kind: string): number =>
        moment.tallies.increase('chain_consensus_messages_total', DEADLOCK_WITHIN, { kind })
      const blocks = moment.tallies.increase('chain_ledger_blocks_total', DEADLOCK_WITHIN)
      const timeouts = of('local_timeout')
      const isStill = blocks === 0 && of('committed_block') === 0
      return foundIf(
        timeouts > 0 && isStill && !isSyncing(moment),
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
    find: (moment) =>
      foundIf(isSyncing(moment), 1, () => 'the node fetched its state from its peers'),
  },
  noise('critical', 50, 3),
  noise('warning', 25, 2),
  {
    alert: 'ChainRebootedNotSyncing',
    severity: 'critical',
    for: 5 * minute,
    figures: [`< ${BOOT_S}`, `<= ${AGE_CRITICAL_S}`, '== 1'],
    find: (moment) => {
      const { at, bootedAt } = moment
      const age = blockAge(moment)
      const isWell = isSyncing(moment) || (age !== null && age <= AGE_CRITICAL_S * second)
      const isFresh = bootedAt !== null && at - bootedAt < BOOT_S * second
      return foundIf(isFresh && !isWell, 1, () => 'the host started anew, and no block came since')
    },
  },
]
