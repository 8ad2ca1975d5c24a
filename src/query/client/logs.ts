import { excerptOf, isObject, type Refuse } from './envelope.ts'
import { parseInteger } from './integers.ts'
import { LOG_FIELDS } from '../log-fields.ts'
import type { RawLog } from './types.ts'

/** Every log of an answer, in the order that came. Throws what `refuse` makes where the shape is wrong. */
export const readLogs = (data: unknown, refuse: Refuse): readonly RawLog[] => {
  if (!Array.isArray(data)) throw refuse('its data is no list', excerptOf(data))
  const entries: readonly unknown[] = data
  return entries.flatMap((entry) => {
    if (!isObject(entry)) throw refuse('an entry of its data is no object', excerptOf(entry))
    const logs = entry['logs'] ?? []
    if (!Object.hasOwn(entry, 'logs') && LOG_FIELDS.some((field) => Object.hasOwn(entry, field))) {
      throw refuse('an entry of its data is a log where its logs were expected', excerptOf(entry))
    }
    if (!Array.isArray(logs)) throw refuse('the logs of an entry are no list', excerptOf(logs))
    const all: readonly unknown[] = logs
    return all.map((log) => readLog(log, refuse))
  })
}

const readLog = (log: unknown, refuse: Refuse): RawLog => {
  if (!isObject(log)) throw refuse('a log is no object', excerptOf(log))
  const blockNumber = parseInteger(log['block_number'])
  const logIndex = parseInteger(log['log_index'])
  if (blockNumber === undefined) throw refuse('a log has no block number', excerptOf(log))
  if (logIndex === undefined) throw refuse('a log has no index', excerptOf(log))
  const text = (key: string): string | null => {
    const value = log[key] ?? null
    if (value !== null && typeof value !== 'string') {
      throw refuse(`the ${key} of a log is no text`, excerptOf(log))
    }
    return value
  }
  const removed = log['removed'] ?? false
  if (typeof removed !== 'boolean') {
    throw refuse('whether a log was removed is neither true nor false', excerptOf(log))
  }
  return {
    blockNumber,
    logIndex,
    address: text('address'),
    topics: [text('topic0'), text('topic1'), text('topic2'), text('topic3')].map((topic) =>
      topic === '' ? null : topic,
    ),
    data: text('data'),
    removed,
  }
}
