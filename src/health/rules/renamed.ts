import { splitAddress } from './rule.ts'

/** What became of the alerts of version 0.2.0 that have another name: the address of the row, or null for a panel. */
export const RENAMED: Readonly<Record<string, string | null>> = {
  ChainAssertion: 'ChainLogTrouble.aborted',
  ChainBadStateRoot: 'ChainStateDiverged.bad-state-root',
  ChainClockUnsynchronised: 'ChainClockDrift.unsynchronised',
  ChainCollectorStale: 'ChainCollectorDown.stale',
  ChainCommissionChanged: 'ChainStakingMismatch.commission-changed',
  ChainConsensusDeadlock: 'ChainBlockStalled.deadlock',
  ChainConsensusFinding: 'ChainLogTrouble.consensus-finding',
  ChainDirectoryGone: 'ChainBlind.directory',
  ChainDiskFilling: 'ChainDiskFull.filling',
  ChainDriveErrors: 'ChainDriveFailing.errors',
  ChainDriveHot: 'ChainHeat.drive',
  ChainDriveWorn: 'ChainDriveFailing.worn',
  ChainEpochOverdue: null,
  ChainExecutionLagging: 'ChainExecutionSlow.lagging',
  ChainFileDescriptorLimit: 'ChainHostSetUp.open-file-limit',
  ChainFileDescriptorsUsed: 'ChainHostSetUp.open-files',
  ChainForkListOld: 'ChainUpgradeDue.fork-list',
  ChainForkpointStale: 'ChainStartFiles.forkpoint',
  ChainFormatDrift: 'ChainLogsIncomplete.format',
  ChainGovernor: 'ChainHostSetUp.governor',
  ChainHeartbeatFailing: 'ChainMonitoringFailing.heartbeat',
  ChainHugePagesMissing: 'ChainHostSetUp.huge-pages',
  ChainJournalEvicted: 'ChainLogsIncomplete.evicted',
  ChainKernelBlocked: 'ChainHostSetUp.kernel',
  ChainKeyFileExposed: 'ChainKeyFile.exposed',
  ChainKeyFileInvalid: 'ChainKeyFile.invalid',
  ChainKeyFileMissing: 'ChainKeyFile.missing',
  ChainLeaderTimeoutsInARow: 'ChainLeaderTimeouts.in-a-row',
  ChainLeavesActiveSet: 'ChainStakeLow.next-epoch',
  ChainMetricsZombie: 'ChainBlind.old-consensus-metrics',
  ChainNetworkNoise: null,
  ChainNodeConfigChanged: 'ChainStartFiles.node-config',
  ChainNodeNotScraped: 'ChainAgentAbsent.node',
  ChainOomKill: 'ChainMemoryLow.oom-kill',
  ChainOutsideActiveSet: 'ChainLeftActiveSet.staking',
  ChainPromotionDue: 'ChainUpgradeDue.promotion',
  ChainProposalShortfall: 'ChainLeaderTimeouts.shortfall',
  ChainPushDown: 'ChainServiceDown.push',
  ChainQueryServiceErrors: 'ChainQueryServiceSlow.errors',
  ChainQueryServiceIncomplete: 'ChainQueryServiceDown.incomplete',
  ChainQueryServiceIngestFailing: 'ChainQueryServiceBehind.ingest-failing',
  ChainQueryServiceStalled: 'ChainQueryServiceBehind.stalled',
  ChainQueryServiceStopped: 'ChainQueryServiceDown.stopped',
  ChainQueryServiceStoreOverLimit: null,
  ChainRebootedNotSyncing: 'ChainBlockStalled.rebooted',
  ChainReferenceDiffers: 'ChainStateDiverged.reference-differs',
  ChainRestartPending: 'ChainUpgradeDue.restart',
  ChainRpcBudget: 'ChainRpcSlow.budget',
  ChainRpcErrors: 'ChainRpcDown.requests-fail',
  ChainSelfStakeLow: 'ChainStakeLow.self-stake',
  ChainSeriesNearLimit: 'ChainAgentFailing.series',
  ChainServiceMissing: 'ChainServiceDown.missing',
  ChainServiceRestarting: 'ChainServiceCrashed.restarts',
  ChainSessionsLow: 'ChainPeersFew.sessions',
  ChainSmtActive: 'ChainHostSetUp.smt',
  ChainStakeMarginLow: 'ChainStakeLow.margin',
  ChainStakeMarginShrinking: null,
  ChainStakeViewsDiffer: null,
  ChainStorageCompacting: null,
  ChainStorageCompactionSoon: null,
  ChainStorageFreeChunksLow: 'ChainStorageFull.free-chunks',
  ChainStorageLowForMigration: 'ChainStorageFull.migration',
  ChainThrottled: 'ChainHeat.cpu',
  ChainTimelineMissing: 'ChainLogTrouble.timeline-missing',
  ChainUpgradeAvailable: 'ChainUpgradeDue.package',
  ChainUpstreamThin: 'ChainPeersFew.upstream',
  ChainUptimeBudgetFast: 'ChainUptimeBudget.fast',
  ChainUptimeBudgetSlow: 'ChainUptimeBudget.slow',
  ChainUptimeBudgetSpent: 'ChainUptimeBudget.spent',
  ChainValidatorsFileStale: 'ChainStartFiles.validators',
  ChainVotesLate: 'ChainNotVoting.late',
  ChainWalStopped: 'ChainLogTrouble.wal-stopped',
  ChainWatchedNoProposals: null,
  ChainWatchedNodeCritical: 'ChainWatchedNode.critical',
  ChainWatchedNodeUnknown: 'ChainWatchedNode.never-heard',
  ChainWithdrawalReady: null,
}

/** The values of labels of version 0.2.0 that are values of `why` now, as `whyOf` writes them, and the alerts that had them. */
const RENAMED_LABELS: Readonly<
  Record<string, { readonly alerts: readonly string[]; readonly values: readonly string[] }>
> = {
  kind: { alerts: ['ChainStakingMismatch'], values: ['commission', 'beneficiary', 'balance'] },
  problem: {
    alerts: ['ChainAgentFailing', 'ChainMonitoringFailing'],
    values: [
      'configuration, state, memory, event loop, restarts, certificate, rules, ',
      'no Alertmanager, notifications, storage, agent to Alertmanager, Alertmanager down',
    ]
      .join('')
      .split(', '),
  },
  reading: {
    alerts: ['ChainBlind'],
    values: [
      'block, references, blocksync window, statesync progress, consensus metrics, some consensus metrics, ',
      'duties, storage, fork readiness, key files',
    ]
      .join('')
      .split(', '),
  },
  sees: { alerts: ['ChainWatchedNodeSilent'], values: ['nothing', 'host', 'port', 'unknown', 'no network'] },
  why: {
    alerts: ['ChainCleanup', 'ChainLogsIncomplete', 'ChainRpcDown'],
    values: [
      'not scheduled, deletes nothing, no new entries, never read, ',
      'reader restarts, dropped by journald, most requests fail',
    ]
      .join('')
      .split(', '),
  },
}

const whyOf = (value: string): string =>
  value === 'dropped by journald' ? 'dropped' : value.toLowerCase().replaceAll(' ', '-')

/**
 * Metrics of version 0.2.0 with another name now, and their labels and values that are different now; null if no metric
 * replaces them.
 */
export const RENAMED_METRICS: Readonly<Record<string, string | null>> = {
  chain_agent_collector_enabled: 'chain_agent_collector_up',
  'chain_agent_collector_failures_total{kind="internal"}': 'chain_agent_internal_failures_total',
  'chain_agent_collector_failures_total{kind="parse"}': null,
  'chain_agent_collector_failures_total{kind="source"}': null,
  'chain_agent_collector_failures_total{kind="timeout"}': null,
  chain_blocks_behind: 'chain_block_difference',
  'chain_consensus_messages_total{kind="vote_sent"}': 'chain_consensus_messages_total{kind="vote_created"}',
  'chain_consensus_window_messages{kind="vote_sent"}': 'chain_consensus_window_messages{kind="vote_created"}',
  chain_execution_block_timestamp_seconds: 'chain_execution_block_started_timestamp_seconds',
  chain_execution_phase_duration_seconds_bucket: null,
  chain_execution_upsert_duration_seconds_bucket: null,
  chain_host_pressure_seconds_total:
    'chain_host_pressure_waiting_seconds_total (some), chain_host_pressure_stalled_seconds_total (full)',
  chain_native_database_capacity_bytes: 'instance:chain_storage_used_ratio:max',
  'chain_native_events_total{event="statesync_triggered"}': 'chain_native_events_total{event="statesync_target_set"}',
  'chain_native_events_total{event="vote_sent"}': 'chain_native_events_total{event="vote_created"}',
  'chain_native_vote_delay_seconds{quantile="0.5"}': 'chain_native_vote_delay_seconds{percentile="50"}',
  'chain_native_vote_delay_seconds{quantile="0.9"}': 'chain_native_vote_delay_seconds{percentile="90"}',
  'chain_native_vote_delay_seconds{quantile="0.99"}': 'chain_native_vote_delay_seconds{percentile="99"}',
  'chain_query_service_ingest_errors_total{kind="nonsense"}': 'chain_query_service_ingest_errors_total{kind="invalid"}',
  'chain_schedule_own_rounds_ahead{window="epoch"}': 'chain_schedule_own_rounds_ahead',
  'chain_schedule_own_rounds_ahead{window="hour"}': 'chain_schedule_own_rounds_next_hour',
  'chain_service_exits_total{result="watchdog"}': 'chain_service_exits_total{result="other"}',
  'chain_service_state{state="maintenance"}': 'chain_service_state{state="inactive"}',
  'chain_service_state{state="reloading"}': 'chain_service_state{state="active"}',
  'chain_staking_pending_tokens{delegator="all"}': 'chain_staking_pending_tokens',
  'chain_staking_pending_tokens{delegator="own"}': 'chain_staking_self_pending_tokens',
  chain_staking_set_limit_members: null,
  'chain_staking_unclaimed_reward_tokens{delegator="all"}': 'chain_staking_unclaimed_reward_tokens',
  'chain_staking_unclaimed_reward_tokens{delegator="own"}': 'chain_staking_self_unclaimed_reward_tokens',
  chain_status_blocks_behind: 'chain_status_block_difference',
  chain_storage_compaction_threshold_ratio: null,
  chain_token_balance: null,
  chain_token_through_block: null,
}

/** What an alert of version 0.2.0 is now; undefined if no alert had that name, or has it still. */
export const renamedTo = (alert: string): string | undefined =>
  Object.hasOwn(RENAMED, alert) ? (RENAMED[alert] ?? 'a panel of the dashboards') : undefined

/** A name or a matcher of version 0.2.0 in a text. */
export interface RenamedUse {
  /** From 1. */
  readonly line: number
  readonly old: string
  /**
   * The address of the row, the matcher, or the metric; null for an alert that is a panel of the dashboards now, and for a
   * metric that nothing replaces.
   */
  readonly now: string | null
  /** The matchers of Alertmanager to write instead; null if there are none, as for a metric. */
  readonly matchers: string | null
}

/** Such as "ChainAssertion is ChainLogTrouble.aborted now". */
export const describeRenamed = ({ old, now }: Pick<RenamedUse, 'old' | 'now'>): string => {
  if (now !== null) return `${old} is ${now} now`
  return isRenamed(old) ? `${old} is a panel of the dashboards now` : `${old} is not exported any more`
}

/** What a text of any format, such as a configuration, a silence or a dashboard, names of version 0.2.0, by line. */
export const findRenamed = (text: string): readonly RenamedUse[] => {
  const lines = text.split('\n')
  const names = lines.flatMap((line, index) =>
    [...new Set([...namesIn(line), ...patternsIn(line).flatMap(namesOf)])].map((old) => useOf(old, index + 1)),
  )
  const metrics = lines.flatMap((line, index) => metricsIn(line).map((metric) => ({ ...metric, line: index + 1 })))
  return [...names, ...labelsIn(text), ...metrics].toSorted((a, b) => a.line - b.line)
}

const isRenamed = (name: string): boolean => Object.hasOwn(RENAMED, name)

const namesIn = (line: string): readonly string[] => (line.match(/\bChain\w+/g) ?? []).filter(isRenamed)

/** Regular expressions with more than names, such as `Chain(Assertion|WalStopped)`. */
const patternsIn = (line: string): readonly RegExp[] =>
  (line.match(/\bChain[\w|().?*+:]*[(.?*+][\w|().?*+:]*/g) ?? [])
    // A repeated group could take exponential time.
    .filter((pattern) => pattern.length <= 1000 && !/\)[*+]/.test(pattern))
    .flatMap((pattern) => {
      try {
        return [new RegExp(`^(?:${pattern})$`)]
      } catch {
        return []
      }
    })

/** The old names that a pattern accepts, without those whose new name it accepts as well. */
const namesOf = (pattern: RegExp): readonly string[] =>
  Object.entries(RENAMED).flatMap(([old, now]) => {
    const isKept = now === null ? /[*+]/.test(pattern.source) : pattern.test(splitAddress(now).alert)
    return pattern.test(old) && !isKept ? [old] : []
  })

const useOf = (old: string, line: number): RenamedUse => {
  const now = RENAMED[old] ?? null
  if (now === null) return { line, old, now, matchers: null }
  const { alert, why } = splitAddress(now)
  return { line, old, now, matchers: `alertname="${alert}"${why === undefined ? '' : `, why="${why}"`}` }
}

const LABELS = Object.keys(RENAMED_LABELS).join('|')
/** `reading="key files"`, also with escaped quotes; `reading: key files` of YAML; a matcher of a silence as JSON. */
const MATCHERS = [
  String.raw`\b(?<label>${LABELS})\\?["']?[ \t]*(?<operator>=~|!~|!=|=|:)[ \t]*\\?["']?(?<value>[^"',\\\]}\n]+)`,
  String.raw`"isEqual"\s*:\s*(?<isEqual>\w+)\s*,\s*"isRegex"\s*:\s*(?<isRegex>\w+)\s*,\s*"name"\s*:\s*"(?<label>${LABELS})"\s*,\s*"value"\s*:\s*"(?<value>[^"]*)"`,
].map((source) => new RegExp(source, 'g'))

/** Matchers on labels that have another name now, in a text that names one of the alerts that had them. */
const labelsIn = (text: string): readonly RenamedUse[] =>
  MATCHERS.flatMap((matcher) =>
    [...text.matchAll(matcher)].flatMap(({ index, groups = {} }) => {
      const { label = '', isEqual, isRegex, value = '' } = groups
      const {
        operator = `${isEqual === 'false' ? '!' : isRegex === 'true' ? '=' : ''}${isRegex === 'true' ? '~' : '='}`,
      } = groups
      const { alerts = [], values = [] } = RENAMED_LABELS[label] ?? {}
      const old = value.trim()
      const now = old.replaceAll(/[^|]+/g, (one) => (values.includes(one) ? whyOf(one) : one))
      if (now === old && (label === 'why' || !old.split('|').some((one) => values.includes(one)))) return []
      if (!alerts.some((alert) => new RegExp(String.raw`\b${alert}\b`).test(text))) return []
      const written = operator === ':' ? (old.includes('|') ? '=~' : '=') : operator
      const matchers = `why${written}"${now}"`
      return [
        { line: text.slice(0, index).split('\n').length, old: `${label}${written}"${old}"`, now: matchers, matchers },
      ]
    }),
  )

/** A name, or a selector with the label: `chain_a_total{b="c"}`, `chain_a_total{b=~"c|d"}`, also with escaped quotes. */
const patternOf = (metric: string): RegExp => {
  const [name = '', label, value = ''] = metric.match(/[\w.]+/g) ?? []
  const selector = String.raw`\{[^}]*\b${label}\s*=~?\s*\\?["'](?:[^"'\\]*\|)?${value.replace('.', '\\.')}[|\\"']`
  return new RegExp(String.raw`(?<![\w:])${name}${label === undefined ? String.raw`(?![\w:])` : selector}`)
}

const METRICS = Object.entries(RENAMED_METRICS).map(([old, now]) => ({
  old,
  now,
  pattern: patternOf(old),
  /** What only the new name has. */
  added: (now?.match(/[\w:]{5,}/g) ?? []).filter((word) => !old.includes(word)),
}))

/** A line with the new name as well is a query for both versions. */
const metricsIn = (line: string): readonly Omit<RenamedUse, 'line'>[] =>
  line.includes('chain_')
    ? METRICS.filter(({ pattern, added }) => pattern.test(line) && !added.some((word) => line.includes(word))).map(
        ({ old, now }) => ({ old, now, matchers: null }),
      )
    : []
