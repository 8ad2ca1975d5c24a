import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import type { Context } from '../../core/clock.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { createUnknownValues } from '../../core/unknown-values.ts'
import { parseStatusReport, type StatusReport } from '../../parsers/status.ts'
import type { Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

export interface StatusReading extends StatusReport {
  /** The times of the cleanup are relative to it; in ms. */
  readonly readAt: number
}

/** The node's status report, read at a long interval: each run of the tool puts load on the node. */
export const status = ({
  readStatus,
  recorder,
  ownKey,
  hasNoReference,
  timing,
}: Uses<'readStatus' | 'recorder' | 'ownKey' | 'hasNoReference'>): Collector<StatusReading> => {
  const unknownValues = createUnknownValues(recorder, 'chain-status')
  return {
    ...metadataOf(definition, timing),
    run: poll(timing, async ({ clock, signal }: Context) => {
      const report = parseStatusReport(await readStatus(signal))
      ownKey.set(report.config.secpPublicKey)
      const unknown = report.unknownKeys.length + report.strayLines
      recorder.count('chain_agent_lines_total', unknown, { format: 'chain-status', result: 'unparsed' })
      unknownValues.add(report.unknownValues)
      return { ...report, readAt: clock.now() }
    }),
    samples: (report) => [
      ...samples(report),
      ...(hasNoReference ? sampleIfKnown('chain_block_difference', behind(report)) : []),
    ],
    states: ({ consensus, rpc, services, statesync, unknownKeys }) => ({
      ...(unknownKeys.length === 0 ? {} : { 'status report, unknown keys': unknownKeys.join(' ').slice(0, 200) }),
      'reported consensus': consensus.status ?? 'unknown',
      'reported mode': consensus.mode ?? 'unknown',
      'reported RPC': rpc.status ?? 'unknown',
      'reported services': servicesState(services),
      'reported statesync': (statesync.targetBlock ?? 0n) === 0n ? 'none' : 'under way or done',
      ...unknownValues.states(),
    }),
  }
}

/** The words for a service that does not run are not documented: they are shown as reported. */
const servicesState = (services: StatusReport['services']): string => {
  const others = Object.entries(services).filter(([, word]) => word !== 'running')
  return others.map(([service, word]) => `${service} ${word || 'unknown'}`).join(', ') || 'running'
}

/** Not the difference in the report, which is clamped in some versions. */
const behind = ({ consensus }: StatusReport): bigint | null =>
  consensus.externalBlockNumber === null || consensus.blockNumber === null
    ? null
    : consensus.externalBlockNumber - consensus.blockNumber

/** A missing or empty value is unknown; any value other than the healthy one is unhealthy. */
const isValue = (value: string | null, healthy: string): boolean | null =>
  value === null || value === '' ? null : value === healthy

/** In Prometheus an empty label is an absent one. */
const label = (value: string | bigint | null): string => value?.toString().slice(0, 100) ?? ''

const samples = (report: StatusReading): readonly Sample[] => {
  const { header, config, consensus, statesync, rpc, cleanup } = report
  const now = report.readAt / 1000
  return [
    sample('chain_status_info', 1, {
      hostname: label(header.hostname),
      version: label(header.version),
      network: label(config.network),
      chain: label(config.chain),
      chain_id: label(config.chainId),
      self_address: label(config.selfAddress),
      record_seq_num: label(config.recordSeqNum),
      secp_public_key: label(config.secpPublicKey),
    }),
    ...sampleIfKnown('chain_status_uptime_seconds', header.uptimeSeconds),
    ...Object.entries(report.services).flatMap(([service, value]) =>
      sampleIfKnown('chain_status_service_running', isValue(value, 'running'), { service }),
    ),
    ...sampleIfKnown('chain_status_rpc_block_number', rpc.blockNumber),
    ...sampleIfKnown('chain_status_peers', report.peers),
    ...sampleIfKnown('chain_status_in_sync', isValue(consensus.status, 'in-sync')),
    ...sampleIfKnown('chain_status_live', isValue(consensus.mode, 'live')),
    ...sampleIfKnown('chain_status_rpc_active', isValue(rpc.status, 'active')),
    sample('chain_status_state_info', 1, {
      consensus: label(consensus.status),
      mode: label(consensus.mode),
      rpc: label(rpc.status),
    }),
    ...sampleIfKnown('chain_status_epoch', consensus.epoch),
    ...sampleIfKnown('chain_status_round', consensus.round),
    ...sampleIfKnown('chain_status_block_number', consensus.blockNumber),
    ...sampleIfKnown('chain_status_external_block_number', consensus.externalBlockNumber),
    ...sampleIfKnown('chain_status_block_difference', consensus.blockDifference),
    // Without a target there is no progress: 0 of 0 would look like a statesync that has not started.
    ...(statesync.targetBlock === 0n
      ? []
      : [
          ...sampleIfKnown('chain_status_statesync_progress_ratio', statesync.progressRatio),
          ...sampleIfKnown('chain_status_statesync_progress_block', statesync.progressBlock),
          ...sampleIfKnown('chain_status_statesync_target_block', statesync.targetBlock),
        ]),
    ...sampleIfKnown('chain_status_cleanup_activated', cleanup.activated),
    ...sampleIfKnown(
      'chain_status_cleanup_last_timestamp_seconds',
      cleanup.previousSeconds === null ? null : now - cleanup.previousSeconds,
    ),
    ...sampleIfKnown(
      'chain_status_cleanup_next_timestamp_seconds',
      cleanup.nextSeconds === null ? null : now + cleanup.nextSeconds,
    ),
  ]
}
