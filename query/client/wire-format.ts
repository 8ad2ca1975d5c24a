import { isObject, type JsonLimits } from '../../src/core/json.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { errorOf } from '../../src/core/error-body.ts'
import { ConfigError } from '../../src/core/errors.ts'
import { LOG_FIELDS } from '../log-fields.ts'
import type { BlockHash, LogObject, LogQuery, RawLog } from './types.ts'

/** Returns the body of a request for the blocks `from` to `end`, both inclusive. Throws a ConfigError. */
export const createRequestBody = (query: LogQuery): ((from: number, end: number) => string) => {
  const { addresses, fromBlock, toBlock } = query
  if (!isBlock(fromBlock) || (toBlock !== null && !isBlock(toBlock)))
    throw new ConfigError('The query is invalid: a block number is not an integer from 0 on')
  const selected = new Set<string>([
    ...query.fields,
    'block_number',
    'log_index',
    ...(addresses.length === 1 ? [] : ['address']),
  ])
  const positions = query.topics.findLastIndex((alternatives) => alternatives.length > 0) + 1
  const filter = {
    ...(addresses.length > 0 && { address: addresses }),
    ...(positions > 0 && { topics: query.topics.slice(0, positions) }),
  }
  const rest = { logs: [filter], field_selection: { log: LOG_FIELDS.filter((field) => selected.has(field)) } }
  // to_block is exclusive for some services. Those that read it as inclusive return one more block, which is removed.
  return (from, end) => JSON.stringify({ from_block: from, to_block: end + 1, ...rest })
}

/** Whether the blocks after it are exact numbers, too. */
export const isBlock = (block: number): boolean => Number.isSafeInteger(block + 2) && block >= 0

/** The most logs of a page: one with more is requested again in fewer blocks. The self-hosted service returns 20,000. */
export const MAX_PAGE_LOGS = 250_000

/** A log has twelve fields, and each block may add an entry. Such a page is parsed in two seconds and 300 MB. */
export const PAGE_JSON: JsonLimits = { depth: LIMITS.json.depth, values: 16 * MAX_PAGE_LOGS }

/** Creates the error for a response of the wrong shape. */
export type ShapeError = (happened: string, evidence: string) => Error

/** A value as JSON, for an error message. */
const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? 'nothing'
  } catch {
    return 'a value that is nested too deeply'
  }
}

/** The fields of a response other than its logs. */
export const readEnvelope = (response: Readonly<Record<string, unknown>>, shapeError: ShapeError) => {
  // The page may lack logs, even if it has a next_block.
  const reported = errorOf(response, ['data'])
  if (reported !== undefined) throw shapeError('it answered with an error next to its data', reported)
  const optional = (key: string): number | null => {
    const value = response[key] ?? null
    if (value === null) return null
    const number = parseInteger(value)
    if (number === undefined) throw shapeError(`its ${key} is not a block number`, jsonOf(value))
    return number
  }
  return {
    /** Null if the response has none. */
    next: optional('next_block'),
    /** -1 if it is null: the service has no block yet, unless next_block or a log proves the opposite. */
    archiveHeight: response['archive_height'] === null ? -1 : optional('archive_height'),
    /** The block hashes in the response, for detecting a reorg. */
    blockHashes: blockHashesOf(response['rollback_guard']),
  }
}

/** The hash of the last block of the page, and of the block before the first. */
const blockHashesOf = (guard: unknown): readonly BlockHash[] => {
  if (!isObject(guard)) return []
  const first = parseInteger(guard['first_block_number'])
  const last = parseInteger(guard['block_number'])
  return [
    ...blockHash(first === undefined ? undefined : first - 1, guard['first_parent_hash']),
    ...blockHash(last, guard['hash']),
  ]
}

const blockHash = (block: number | undefined, hash: unknown): readonly BlockHash[] =>
  block === undefined || block < 0 || typeof hash !== 'string' || hash === ''
    ? []
    : [{ block, hash: hash.toLowerCase() }]

/** A number, or a string of decimal or 0x hexadecimal digits; undefined for anything else, negative or not exact. */
export const parseInteger = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? fromText(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

const fromText = (text: string): number | undefined =>
  /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/i.test(text) ? Number(text) : undefined

/** The logs of a response, in its order. Throws the `shapeError` if the shape is wrong. */
export const logObjectsOf = (data: unknown, shapeError: ShapeError): readonly LogObject[] => {
  if (!Array.isArray(data)) throw shapeError('its data is not a list', jsonOf(data))
  const entries: readonly unknown[] = data
  return entries.flatMap((entry) => {
    if (!isObject(entry)) throw shapeError('an entry of its data is not an object', jsonOf(entry))
    const logs = entry['logs'] ?? []
    if (!Object.hasOwn(entry, 'logs') && LOG_FIELDS.some((field) => Object.hasOwn(entry, field))) {
      throw shapeError('an entry of its data is a log instead of an object with logs', jsonOf(entry))
    }
    if (!Array.isArray(logs)) throw shapeError('the logs of an entry are not a list', jsonOf(logs))
    const all: readonly unknown[] = logs
    return all.map((log) => {
      if (isObject(log)) return log
      throw shapeError('a log is not an object', jsonOf(log))
    })
  })
}

/** Throws the `shapeError` if a field that the client reads has a wrong type. */
export const readLog = (log: LogObject, shapeError: ShapeError): RawLog => {
  const blockNumber = parseInteger(log['block_number'])
  const logIndex = parseInteger(log['log_index'])
  if (blockNumber === undefined) throw shapeError('a log has no block number', jsonOf(log))
  if (logIndex === undefined) throw shapeError('a log has no index', jsonOf(log))
  const removed = log['removed'] ?? false
  if (typeof removed !== 'boolean') {
    throw shapeError('the field removed of a log is neither true nor false', jsonOf(log))
  }
  return {
    blockNumber,
    logIndex,
    address: textOf(log, 'address', shapeError),
    topics: [
      textOf(log, 'topic0', shapeError) || null,
      textOf(log, 'topic1', shapeError) || null,
      textOf(log, 'topic2', shapeError) || null,
      textOf(log, 'topic3', shapeError) || null,
    ],
    data: textOf(log, 'data', shapeError),
    removed,
  }
}

const textOf = (log: LogObject, key: string, shapeError: ShapeError): string | null => {
  const value = log[key] ?? null
  if (value === null || typeof value === 'string') return value
  throw shapeError(`the ${key} of a log is not a string`, jsonOf(log))
}
