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

/** What logs are selected by; an empty list matches any value. */
interface LogCriteria {
  readonly addresses: readonly string[]
  readonly topics: readonly (readonly string[])[]
}

/**
 * Whether a log is selected. An address that a response does not have is null and cannot be compared; a topic that the log
 * does not have is another one.
 */
export const createLogFilter = ({ addresses, topics }: LogCriteria) => {
  const contracts = lower(addresses)
  const positions = topics.map(lower)
  return (log: { readonly address: string | null; readonly topics: readonly (string | null)[] }): boolean =>
    (contracts.size === 0 || log.address === null || contracts.has(log.address.toLowerCase())) &&
    positions.every((values, at) => values.size === 0 || values.has(log.topics[at]?.toLowerCase() ?? ''))
}

const lower = (values: readonly string[]): ReadonlySet<string> => new Set(values.map((value) => value.toLowerCase()))
