import { CONSENSUS_KINDS } from './definition.ts'
import type { ConsensusEvent } from '../../parsers/consensus-log-events.ts'

export type ConsensusKind = (typeof CONSENSUS_KINDS)[number]

/** What is counted beside the kinds of messages, for the findings. */
export const SIGNS = [
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
export type Sign = (typeof SIGNS)[number]
export type Counted = ConsensusKind | Sign

/** What an event counts as: kinds of messages, and signs for the findings. */
export const countsOf = (event: ConsensusEvent): readonly Counted[] => [
  ...kindsOf(event),
  ...signsOf(event),
]

/** The kinds of the catalogue. What serves others is none; a warning about statesync is two. */
export const kindsOf = (event: ConsensusEvent): readonly ConsensusKind[] => {
  const kind = kindOf(event)
  const level = levelOf(event)
  return [...(kind ? [kind] : []), ...(level ? [level] : [])]
}

/** Warning or error, by its level; a panic has none and is an error. */
export const levelOf = ({ level, event }: ConsensusEvent): 'warning' | 'error' | undefined => {
  if (level === 'WARN') return 'warning'
  return level === 'ERROR' || event === 'panic' ? 'error' : undefined
}

const kindOf = (said: ConsensusEvent): ConsensusKind | undefined => {
  if (said.event === 'round_closed') return said.by === 'qc' ? 'round_advanced' : 'round_timed_out'
  if (said.event === 'statesync' || said.event === 'blocksync') {
    return said.step === 'serving' ? undefined : said.event
  }
  return CONSENSUS_KINDS.find((kind) => kind === said.event)
}

const signsOf = (said: ConsensusEvent): readonly Sign[] => {
  const sign = signOf(said)
  if (said.level === null) return sign ? [sign] : []
  const line = said.level === 'DEBUG' ? 'debug_line' : 'other_line'
  return sign ? [sign, line] : [line]
}

const signOf = (said: ConsensusEvent): Sign | undefined => {
  if (said.event === 'wal') return `wal_${said.trouble}`
  if (said.event === 'network_error') {
    return said.kind === 'timestamp' ? 'timestamp_failure' : undefined
  }
  if (said.event === 'statesync') {
    return said.step === 'snapshot_advised' ? 'snapshot_advised' : undefined
  }
  if (said.event === 'blocksync') {
    return said.step === 'no_peers' ? 'blocksync_no_peers' : undefined
  }
  return SIGNS.find((sign) => sign === said.event)
}

/** A record with each of the keys. */
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
