import { sample, sampleIfKnown, type Sample, type SampleIndex } from '../../core/metric.ts'
import type { StoredSample } from '../../health/promql/series.ts'
import { LOGGED_EVENTS, LOGGED_EVENTS_METRIC } from './rules.ts'
import type { ServiceRuns } from './service-runs.ts'

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
