import { MIGRATION_PHASES, NATIVE_EVENTS } from './definition.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { EVENT_NAMES, MIGRATION_VALUES, NATIVE_NAMES, SESSION_NAMES, VOTE_DELAY_NAMES } from './metric-names.ts'
import type { NativeSeries } from './series.ts'

/** Network and version. `service_name` is omitted: it contains the name that the operator gave the node. */
const infoOf = ({ label }: NativeSeries) => ({
  network: label('network')?.slice(0, 100) ?? null,
  version: label('service_version')?.slice(0, 100) ?? null,
})

/** The metrics of the node that no other source provides, in base units. */
export const nativeSamples = (series: NativeSeries): readonly Sample[] => {
  const { value } = series
  const { network, version } = infoOf(series)
  return [
    ...(network === null && version === null
      ? []
      : [sample('chain_native_info', 1, { network: network ?? '', version: version ?? '' })]),
    ...sampleIfKnown('chain_native_uptime_seconds', divided(value(NATIVE_NAMES.uptime), 1_000_000)),
    ...sampleIfKnown('chain_native_peers', value(NATIVE_NAMES.peers)),
    ...sampleIfKnown('chain_native_upstream_validators', value(NATIVE_NAMES.upstreamValidators)),
    ...sampleIfKnown('chain_native_downstream_nodes', value(NATIVE_NAMES.downstreamNodes)),
    ...STATES.flatMap((state) => sampleIfKnown('chain_native_sessions', value(SESSION_NAMES[state]), { state })),
    ...statesyncSamples(series),
    ...PERCENTILES.flatMap((percentile) =>
      sampleIfKnown('chain_native_vote_delay_seconds', divided(value(VOTE_DELAY_NAMES[percentile]), 1000), {
        percentile,
      }),
    ),
    ...sampleIfKnown('chain_native_stake_ratio', divided(value(NATIVE_NAMES.stake), 10_000)),
    ...phaseSamples(value(NATIVE_NAMES.migrationPhase)),
    ...NATIVE_EVENTS.flatMap((event) =>
      sampleIfKnown('chain_native_events_total', value(EVENT_NAMES[event]), { event }),
    ),
  ]
}

const STATES = ['total', 'transport', 'initiating'] as const
const PERCENTILES = ['p50', 'p90', 'p99'] as const

const divided = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value / by

/** A progress of 0 of 0 is a process that never needed statesync. */
const statesyncSamples = ({ value }: NativeSeries): readonly Sample[] => {
  const target = value(NATIVE_NAMES.statesyncTarget)
  return [
    ...sampleIfKnown('chain_native_statesync_active', value(NATIVE_NAMES.statesyncActive)),
    ...(target === undefined || target === 0
      ? []
      : [
          ...sampleIfKnown('chain_native_statesync_progress_block', value(NATIVE_NAMES.statesyncProgress)),
          sample('chain_native_statesync_target_block', target),
        ]),
  ]
}

/** An unknown value of the phase is not exported. */
const phaseSamples = (value: number | undefined): readonly Sample[] =>
  MIGRATION_PHASES.some((phase) => MIGRATION_VALUES[phase] === value)
    ? MIGRATION_PHASES.map((phase) =>
        sample('chain_native_migration_phase', MIGRATION_VALUES[phase] === value, { phase }),
      )
    : []
