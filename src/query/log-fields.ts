/** Every field of a log that the service can be asked for. */
export const LOG_FIELDS = [
  'removed',
  'log_index',
  'transaction_index',
  'transaction_hash',
  'block_hash',
  'block_number',
  'address',
  'data',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
] as const

export type LogField = (typeof LOG_FIELDS)[number]
