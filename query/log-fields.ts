export const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const

/** The fields of a log that a query can select. */
export const LOG_FIELDS = [
  'removed',
  'log_index',
  'transaction_index',
  'transaction_hash',
  'block_hash',
  'block_number',
  'address',
  'data',
  ...TOPICS,
] as const

export type LogField = (typeof LOG_FIELDS)[number]
