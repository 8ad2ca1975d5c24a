import type { LogField } from '../log-fields.ts'
import type { LogQuery } from './types.ts'

type LogCriteria = Pick<LogQuery, 'addresses' | 'topics'>

/** The fields of a log by which the service selects it; null if the response does not have the field. */
interface SelectedBy {
  readonly address: string | null
  /** A topic that the log does not have is null. */
  readonly topics: readonly (string | null)[]
}

/** Whether the query requested a log. An address that the response does not have cannot be compared. */
export type LogFilter = (log: SelectedBy) => boolean

export const createLogFilter = ({ addresses, topics }: LogCriteria): LogFilter => {
  const contracts = new Set(addresses)
  const positions = topics.flatMap((alternatives, at) =>
    alternatives.length === 0 ? [] : [{ at, alternatives: new Set(alternatives) }],
  )
  return (log) =>
    (contracts.size === 0 || log.address === null || contracts.has(log.address.toLowerCase())) &&
    positions.every(({ at, alternatives }) => alternatives.has(log.topics[at]?.toLowerCase() ?? ''))
}

export const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const

/** The fields that show whether the query requested a log. */
export const filterFieldsOf = ({ addresses, topics }: LogCriteria): readonly LogField[] => [
  ...(addresses.length === 0 ? [] : (['address'] as const)),
  ...TOPICS.filter((_, at) => (topics[at] ?? []).length > 0),
]
