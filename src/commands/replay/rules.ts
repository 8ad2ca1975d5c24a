import { COLLECTORS } from '../../collectors/index.ts'
import {
  type CounterName,
  type MetricDefinition,
  type ReadingName,
  sample,
  sampleIfKnown,
  type Sample,
  type SampleIndex,
} from '../../core/metric.ts'
import { compilePromql, type SeriesRange } from '../../health/promql/evaluate.ts'
import type { StoredSample } from '../../health/promql/series.ts'
import { ruleSet } from '../../health/rules/index.ts'
import { addressOf } from '../../health/rules/rule.ts'
import { agentMetrics, chapters } from '../../metrics.ts'
import type { ServiceRuns } from './collectors.ts'

/** The collectors that the replay runs. */
const REPLAYED = ['lifecycle', 'ledger', 'consensus', 'execution', 'logs', 'derived'] as const

/** Metrics of these collectors that need other sources than the journal entries of the replayed time. */
const NOT_IN_ENTRIES = new Set<string>([
  'chain_log_oldest_entry_timestamp_seconds',
  'chain_native_zombie',
  'chain_statesync_eta_seconds',
  'chain_statesync_last_progress_timestamp_seconds',
  'chain_duty_expected_slots',
  'chain_duty_shortfall_probability_ratio',
  // Compared with the identities of other hosts.
  'chain_duty_identity_active',
] satisfies readonly ReadingName[])

/** Kinds of messages of the consensus log that are an event of consensus, of the same name. */
const LOGGED_EVENTS = ['local_timeout', 'committed_block'] as const
const LOGGED_EVENTS_METRIC: CounterName = 'chain_consensus_messages_total'

/** The names of the series of a metric. */
const seriesNames = ([name, { type }]: readonly [string, Pick<MetricDefinition, 'type'>]): readonly string[] =>
  type === 'histogram' ? ['_bucket', '_count', '_sum'].map((suffix) => `${name}${suffix}`) : [name]

const PROVIDED: readonly string[] = [
  ...REPLAYED.flatMap((name) => Object.entries(COLLECTORS[name].metrics).flatMap(seriesNames)).filter(
    (name) => !NOT_IN_ENTRIES.has(name),
  ),
  // The other metrics of the agent itself describe the process that runs, not the replayed time.
  'chain_agent_lines_total',
  'chain_agent_journal_last_entry_timestamp_seconds',
  // Derived from entries: journalSamples.
  ...([
    'chain_host_boot_timestamp_seconds',
    'chain_rpc_block_number',
    'chain_rpc_last_advance_timestamp_seconds',
    'chain_service_active',
    'chain_service_expected',
    'chain_service_partial_restart',
    'chain_service_start_timestamp_seconds',
  ] satisfies readonly ReadingName[]),
]

/**
 * Metrics that a rule reads in addition to the provided ones, and whose absence does not change its result in a replay:
 * the report on the database, the RPC and the metrics of consensus are its second source, a unit that has entries
 * exists, and the role decides only about the RPC, which has no entries.
 */
const OPTIONAL: readonly ReadingName[] = [
  'chain_storage_used_ratio',
  'chain_storage_chunks',
  'chain_service_state',
  'chain_node_role',
  'chain_rpc_block_timestamp_seconds',
  'chain_native_start_active',
]

/**
 * Selects the rules that the journal can decide: every series that the rule reads, directly or through recording rules,
 * is provided by the replay. A rule about an absent series would otherwise fire although the agent had it at that time.
 */
export const selectReplayRules = () => {
  const { recording, alerts } = ruleSet()
  const missingOf = new Map<string, readonly SeriesRange[]>()
  const reads: SeriesRange[] = []

  const findMissing = (expr: string): readonly SeriesRange[] => {
    const compiled = compilePromql(expr)
    const missing = compiled.reads.flatMap((read) => {
      const recorded = [...missingOf].filter(([name]) => read.matches(name))
      if (recorded.length > 0) return recorded.flatMap(([, ranges]) => ranges)
      const isProvided =
        [...PROVIDED, ...OPTIONAL].some((name) => read.matches(name)) ||
        LOGGED_EVENTS.some((event) => read.matches('chain_native_events_total', { event }))
      return isProvided ? [] : [read]
    })
    if (missing.length === 0) reads.push(...compiled.reads)
    return missing
  }

  const decidedRecording = recording.filter(({ record, expr }) => {
    const missing = findMissing(expr)
    missingOf.set(record, [...(missingOf.get(record) ?? []), ...missing])
    return missing.length === 0
  })
  const ofNode = alerts.filter(({ row: { severity } }) => severity !== 'none')
  const missing = new Map(ofNode.map((rule) => [rule, findMissing(rule.expr)]))
  const others = [...missing].filter(([, ranges]) => ranges.length > 0)
  const chaptersOf = (range: SeriesRange): readonly string[] =>
    Object.entries(chapters).flatMap(([chapter, { metrics }]) =>
      Object.entries(metrics)
        .flatMap(seriesNames)
        .some((name) => range.matches(name))
        ? [chapter]
        : [],
    )

  return {
    rules: { recording: decidedRecording, alerts: ofNode.filter((rule) => missing.get(rule)?.length === 0) },
    /** The definitions of the metrics that these rules read, or that other metrics are derived from. */
    catalogue: Object.fromEntries(
      Object.entries(agentMetrics).filter(
        ([name, metric]) =>
          name === LOGGED_EVENTS_METRIC ||
          seriesNames([name, metric]).some((series) => reads.some((read) => read.matches(series))),
      ),
    ),
    notEvaluated: {
      alerts: [...new Set(others.map(([{ row }]) => addressOf(row)))].toSorted(),
      /** The collectors and other parts that have the missing metrics. */
      needs: [...new Set(others.flatMap(([, ranges]) => ranges.flatMap(chaptersOf)))]
        .filter((name) => REPLAYED.every((replayed) => replayed !== name))
        .toSorted(),
    },
  }
}

interface JournalState {
  /** The samples of the replayed collectors. */
  readonly known: SampleIndex
  readonly serviceRuns: Pick<ServiceRuns, 'active' | 'started' | 'isPartialRestart'>
  /** Services that a timer starts: they are not active all the time. */
  readonly timers: readonly string[]
  /** When the host booted, in milliseconds since the epoch; null if the recording has no boot. */
  readonly bootedAt: number | null
}

/** Blocks: the ledger stream of a running node is less behind execution. */
const STREAM_BEHIND = 30

/**
 * Whether a sample still holds. If execution is ahead of the ledger stream, the stream has stopped: its newest block is
 * not the newest one of the node, whose age is unknown then. An agent has it from the RPC.
 */
export const isCurrent = (known: SampleIndex): ((sample: Sample) => boolean) => {
  const executed = known.value('chain_execution_block_number') ?? 0
  const proposed = known.value('chain_ledger_seq_num', { event: 'proposed' }) ?? executed
  return ({ name }) => name !== 'chain_ledger_block_timestamp_seconds' || executed - proposed <= STREAM_BEHIND
}

/** Series that the agent has from systemd, the RPC and the kernel, from the journal instead. */
export const journalSamples = ({ known, serviceRuns, timers, bootedAt }: JournalState): readonly Sample[] => {
  // The RPC serves the blocks that execution has executed. When it executed them is not the time of these blocks.
  const executedAt = known.value('chain_execution_block_started_timestamp_seconds')
  const proposedAt = known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' })
  const newest = Math.max(executedAt ?? 0, proposedAt ?? 0)
  return [
    ...[...serviceRuns.active()].flatMap(([service, isActive]) => [
      sample('chain_service_active', isActive, { service }),
      sample('chain_service_expected', !timers.includes(service), { service }),
    ]),
    ...[...serviceRuns.started()].map(([service, startedAt]) =>
      sample('chain_service_start_timestamp_seconds', startedAt / 1000, { service }),
    ),
    ...sampleIfKnown('chain_service_partial_restart', serviceRuns.isPartialRestart()),
    ...sampleIfKnown('chain_host_boot_timestamp_seconds', bootedAt === null ? null : bootedAt / 1000),
    ...sampleIfKnown('chain_rpc_block_number', known.value('chain_execution_block_number'), { tag: 'latest' }),
    ...sampleIfKnown('chain_rpc_last_advance_timestamp_seconds', newest === 0 ? null : newest),
  ]
}

/** The samples, with the counters of messages of consensus that have the same meaning as those of consensus itself. */
export const withConsensusEvents = (
  samples: readonly StoredSample[],
  isConsensusActive: boolean,
): readonly StoredSample[] =>
  isConsensusActive
    ? [
        ...samples,
        ...samples.flatMap(({ name, labels, value }) => {
          const event = LOGGED_EVENTS.find((kind) => kind === labels['kind'])
          return name !== LOGGED_EVENTS_METRIC || event === undefined
            ? []
            : [{ name: 'chain_native_events_total', labels: { event }, value }]
        }),
      ]
    : samples
