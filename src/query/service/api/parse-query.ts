import { LOG_FIELDS, type LogField } from '../../log-fields.ts'
import type { Filter } from '../../store/store.ts'
import { type FilterRules, readFilters } from './filters.ts'
import { HttpError } from './http-error.ts'
import {
  type InputValue,
  invalidValue,
  type JsonObject,
  member,
  parseObject,
  readInteger,
  readList,
  readNames,
  readObject,
  readOptionalInteger,
} from './json-body.ts'

/**
 * `spec`: to_block is inclusive, next_block is absent on the last page, one entry of data per block. `hosted`:
 * compatible with the hosted service and its clients: to_block is exclusive, next_block is always present.
 */
export type Dialect = 'spec' | 'hosted'

export const BLOCK_FIELDS = ['number', 'hash', 'parent_hash', 'timestamp'] as const

export type BlockField = (typeof BLOCK_FIELDS)[number]

/** A validated query, the same for both dialects. */
export interface ParsedQuery {
  readonly from: number
  /** Inclusive; null: no upper bound. Less than `from` if the query covers no block. */
  readonly to: number | null
  readonly filters: readonly Filter[]
  /** Fields of each log; may be empty in the hosted dialect. */
  readonly fields: readonly LogField[]
  /** Fields of each block, for the blocks with a matching log or for every block of the page. */
  readonly blockFields: readonly BlockField[]
  readonly blocks: 'matching' | 'all'
  /** Null: as many as a page holds. */
  readonly maxLogs: number | null
}

const SPEC_KEYS = ['from_block', 'to_block', 'logs', 'field_selection']

/** Parses the body of a query. Throws an HttpError with the path of the invalid value. */
export const parseQuery = (bytes: Uint8Array, rules: RequestRules): ParsedQuery => {
  const body = parseObject(bytes)
  return rules.dialect === 'hosted' ? parseHostedQuery(body, rules) : parseSpecQuery(body, rules)
}

const parseSpecQuery = (body: JsonObject, rules: RequestRules): ParsedQuery => {
  readObject({ value: body, path: '' }, SPEC_KEYS)
  const from = readInteger(member(body, 'from_block'))
  const to = readOptionalInteger(member(body, 'to_block'))
  if (to !== null && to < from) throw reversedRange()
  const filters = readFilters(member(body, 'logs'), { ...rules, isHosted: false })
  const selection = member(body, 'field_selection')
  const log = member(readObject(selection, ['log']), 'log', selection.path)
  const fields = readLogFields(log)
  if (fields.length === 0) throw invalidValue(log, `some of ${LOG_FIELDS.join(', ')}`)
  return { from, to, filters, fields, blockFields: [], blocks: 'matching', maxLogs: null }
}

export interface RequestRules extends Omit<FilterRules, 'isHosted'> {
  readonly dialect: Dialect
}

/** The selected fields in the order of LOG_FIELDS. */
const readLogFields = (input: InputValue): readonly LogField[] => {
  const names = readNames(input, LOG_FIELDS)
  return LOG_FIELDS.filter((field) => names.has(field))
}

const reversedRange = (): HttpError =>
  new HttpError('bad_value', 'to_block is less than from_block', { path: 'to_block' })

/** Tables that this service does not have; a query must not select from them. */
const UNSUPPORTED_TABLES = ['transaction', 'trace'] as const
const SELECTIONS = ['transactions', 'traces', 'blocks']
const LIMITS = ['max_num_blocks', 'max_num_transactions', 'max_num_logs', 'max_num_traces'] as const
const HOSTED_KEYS = [
  'from_block',
  'to_block',
  'logs',
  'field_selection',
  'include_all_blocks',
  'join_mode',
  ...SELECTIONS,
  ...LIMITS,
]

/**
 * Parses a query as clients of the hosted service send it. Features that only the hosted service has are rejected by
 * name.
 */
const parseHostedQuery = (body: JsonObject, rules: RequestRules): ParsedQuery => {
  readObject({ value: body, path: '' }, HOSTED_KEYS)
  const from = readInteger(member(body, 'from_block'))
  const end = readOptionalInteger(member(body, 'to_block'))
  if (end !== null && end < from) throw reversedRange()
  for (const key of SELECTIONS) expectNone(member(body, key), 'only logs can be selected')
  const filters = readFilters(member(body, 'logs'), { ...rules, isHosted: true })
  const includesAllBlocks = readFlag(member(body, 'include_all_blocks'))
  const isJoined = readJoin(member(body, 'join_mode'))
  const [maxBlocks, , maxLogs] = LIMITS.map((key) => readOptionalInteger(member(body, key)))
  const { fields, blockFields } = readSelection(member(body, 'field_selection'))
  return {
    from,
    to: lastBlockOf(from, end, maxBlocks ?? null),
    filters,
    fields,
    blockFields: isJoined || includesAllBlocks ? blockFields : [],
    blocks: includesAllBlocks ? 'all' : 'matching',
    maxLogs: maxLogs ?? null,
  }
}

/** A limit on blocks searched also limits the blocks found. */
const lastBlockOf = (from: number, end: number | null, maxBlocks: number | null): number | null => {
  const last = end === null ? null : end - 1
  if (maxBlocks === null) return last
  const limit = Math.min(Number.MAX_SAFE_INTEGER, from + Math.max(1, maxBlocks) - 1)
  return last === null ? limit : Math.min(last, limit)
}

const readSelection = (input: InputValue) => {
  if ((input.value ?? null) === null) return { fields: [], blockFields: [] }
  const object = readObject(input, ['block', 'log', ...UNSUPPORTED_TABLES])
  for (const table of UNSUPPORTED_TABLES) expectNone(member(object, table, input.path), `${table}s are not available`)
  const blockNames = readNames(member(object, 'block', input.path), BLOCK_FIELDS)
  return {
    fields: readLogFields(member(object, 'log', input.path)),
    blockFields: BLOCK_FIELDS.filter((field) => blockNames.has(field)),
  }
}

const expectNone = (input: InputValue, why: string): void => {
  if (input.value === null) return
  const [first] = readList(input, 1)
  if (first) throw new HttpError('not_served', why, { path: first.path })
}

const readFlag = (input: InputValue): boolean => {
  if (input.value === undefined || input.value === null) return false
  if (typeof input.value !== 'boolean') throw invalidValue(input, 'true or false')
  return input.value
}

/** Whether blocks are returned together with their logs. */
const readJoin = (input: InputValue): boolean => {
  switch (input.value) {
    case undefined:
    case null:
    case 'Default':
      return true
    case 'JoinNothing':
      return false
    case 'JoinAll':
      throw new HttpError(
        'not_served',
        'joining the other logs of a transaction is not supported; use Default or JoinNothing',
        { path: input.path },
      )
    default:
      throw invalidValue(input, 'Default or JoinNothing')
  }
}
