import { CONSENSUS_KINDS } from './definition.ts'
import type { ConsensusEvent } from '../../parsers/consensus-log.ts'

export type ConsensusKind = (typeof CONSENSUS_KINDS)[number]

/** Lines that are counted for the findings, in addition to the kinds of messages. */
export const INDICATORS = [
  'panic',
  'crash',
  'too_far_behind',
  'wal_thread_stopped',
  'wal_push_failed',
  'execution_lagging',
  'pacing_differs',
  'timestamp_failure',
  'snapshot_advised',
  'blocksync_no_peers',
  'advance',
  'debug_line',
  'other_line',
  'suppressed',
] as const
export type Indicator = (typeof INDICATORS)[number]
export type CountedKey = ConsensusKind | Indicator

/** The kinds and indicators of an event. */
export const countedKeysOf = (event: ConsensusEvent): readonly CountedKey[] => [
  ...kindsOf(event),
  ...indicatorsOf(event),
]

/** The kinds of an event: none for serving other nodes, two for a warning about statesync. */
export const kindsOf = (event: ConsensusEvent): readonly ConsensusKind[] => {
  const kind = kindOf(event)
  const level = levelOf(event)
  return [...(kind ? [kind] : []), ...(level ? [level] : [])]
}

/** The level of an event; a panic has no level and is an error. */
export const levelOf = ({ level, event }: ConsensusEvent): 'warning' | 'error' | undefined => {
  if (level === 'WARN') return 'warning'
  return level === 'ERROR' || event === 'panic' ? 'error' : undefined
}

const kindOf = (event: ConsensusEvent): ConsensusKind | undefined => {
  if (event.event === 'round_closed') return event.by === 'qc' ? 'round_advanced' : 'round_timed_out'
  if (event.event === 'statesync' || event.event === 'blocksync') {
    return event.step === 'serving' ? undefined : event.event
  }
  return CONSENSUS_KINDS.find((kind) => kind === event.event)
}

const indicatorsOf = (event: ConsensusEvent): readonly Indicator[] => {
  const indicator = indicatorOf(event)
  if (event.level === null) return indicator ? [indicator] : []
  const line = event.level === 'DEBUG' ? 'debug_line' : 'other_line'
  return indicator ? [indicator, line] : [line]
}

const indicatorOf = (event: ConsensusEvent): Indicator | undefined => {
  if (event.event === 'wal') return `wal_${event.trouble}`
  if (event.event === 'network_error') {
    return event.kind === 'timestamp' ? 'timestamp_failure' : undefined
  }
  if (event.event === 'statesync') {
    return event.step === 'snapshot_advised' ? 'snapshot_advised' : undefined
  }
  if (event.event === 'blocksync') {
    return event.step === 'no_peers' ? 'blocksync_no_peers' : undefined
  }
  return INDICATORS.find((candidate) => candidate === event.event)
}

/** Builds a record with a value for each key. */
export const recordOf = <Key extends string, Value>(
  keys: readonly Key[],
  valueOf: (key: Key) => Value,
): Record<Key, Value> => {
  const record: Partial<Record<Key, Value>> = {}
  for (const key of keys) record[key] = valueOf(key)
  if (!isWhole(record, keys)) throw new RangeError('a key without a value')
  return record
}

const isWhole = <Key extends string, Value>(
  record: Partial<Record<Key, Value>>,
  keys: readonly Key[],
): record is Record<Key, Value> => keys.every((key) => key in record)
