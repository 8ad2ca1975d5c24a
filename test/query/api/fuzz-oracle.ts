import { z } from 'zod'
import { LOG_FIELDS, type LogField } from '../../../query/log-fields.ts'
import {
  BLOCK_FIELDS,
  type BlockField,
  type Dialect,
  TRANSACTION_FIELDS,
  type TransactionField,
} from '../../../query/service/api/parse-query.ts'
import type { Block, Filter, StoredLog } from '../../../query/store/store.ts'
import { keeps, VALUES } from '../../support/memory-store.ts'

const MOST_VALUES = 12
const MOST_FILTERS = 4

/** As small as they can be met by chance. */
export const ORACLE_LIMITS = { values: MOST_VALUES, filters: MOST_FILTERS }

const BLOCK = z
  .int()
  .min(0)
  .max(2 ** 53 - 1)
const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(String.raw`^0x[0-9a-fA-F]{${digits}}(?!\n)$`))
    .transform((text) => text.toLowerCase())
const FILTER = z.strictObject({
  address: z.array(hex(40)).optional(),
  topics: z
    .array(z.array(hex(64)))
    .max(4)
    .optional(),
})
const SPEC = z.strictObject({
  from_block: BLOCK,
  to_block: BLOCK.nullish(),
  logs: z.array(FILTER).max(MOST_FILTERS),
  field_selection: z.strictObject({ log: z.array(z.enum(LOG_FIELDS)).min(1) }),
})
const NOTHING = z.array(z.never()).nullish()
const NONE = z.null().optional()
const HOSTED_FILTER = FILTER.extend({ address_filter: NONE, exclude: NONE })
const HOSTED = z.strictObject({
  from_block: BLOCK,
  to_block: BLOCK.nullish(),
  logs: z
    .array(z.union([HOSTED_FILTER, z.strictObject({ include: HOSTED_FILTER, exclude: NONE })]))
    .max(MOST_FILTERS)
    .default([]),
  field_selection: z
    .strictObject({
      log: z.array(z.enum(LOG_FIELDS)).optional(),
      block: z.array(z.enum(BLOCK_FIELDS)).optional(),
      transaction: z.array(z.enum(TRANSACTION_FIELDS)).optional(),
      trace: NOTHING,
    })
    .nullish(),
  transactions: NOTHING,
  traces: NOTHING,
  blocks: NOTHING,
  include_all_blocks: z.boolean().nullish(),
  join_mode: z.enum(['Default', 'JoinNothing']).nullish(),
  max_num_blocks: BLOCK.nullish(),
  max_num_logs: BLOCK.nullish(),
  max_num_transactions: BLOCK.nullish(),
  max_num_traces: BLOCK.nullish(),
})

export interface Wanted {
  readonly from: number
  /** Inclusive, no further than what is held; below `from` where there is nothing to look at. */
  readonly end: number
  readonly filters: readonly Filter[]
  readonly fields: readonly LogField[]
  readonly blockFields: readonly BlockField[]
  readonly allBlocks: boolean
  readonly transactionFields: readonly TransactionField[]
  /** Of a page. */
  readonly maxLogs: number
  readonly maxBlocks: number
}

/** Parses a body by an independent reading of the rules; undefined if it is invalid. */
export const wantedOf = (bytes: Buffer, dialect: Dialect, last: number): Wanted | undefined => {
  const body = parsed(bytes)
  if (body === undefined) return undefined
  const { data } = dialect === 'spec' ? SPEC.safeParse(body) : HOSTED.safeParse(body)
  if (data === undefined) return undefined
  const logs = data.logs.map((entry) => ('include' in entry ? entry.include : entry))
  const values = logs.flatMap(({ address = [], topics = [] }) => [...address, ...topics.flat()])
  const to = data.to_block ?? null
  const isBackwards = dialect === 'spec' && to !== null && to < data.from_block
  if (values.length > MOST_VALUES || isBackwards) return undefined
  const selection: {
    readonly log?: readonly string[] | undefined
    readonly block?: readonly string[] | undefined
    readonly transaction?: readonly string[] | undefined
  } = data.field_selection ?? {}
  const allBlocks = 'include_all_blocks' in data && data.include_all_blocks === true
  const isJoined = !('join_mode' in data) || data.join_mode !== 'JoinNothing'
  return {
    from: data.from_block,
    end: Math.min(last, to === null ? last : dialect === 'spec' ? to : to - 1),
    filters: logs.map(({ address = [], topics = [] }) => ({ addresses: address, topics })),
    fields: LOG_FIELDS.filter((field) => selection.log?.includes(field)),
    blockFields: isJoined || allBlocks ? BLOCK_FIELDS.filter((field) => selection.block?.includes(field)) : [],
    allBlocks,
    transactionFields: isJoined ? TRANSACTION_FIELDS.filter((field) => selection.transaction?.includes(field)) : [],
    maxLogs: 'max_num_logs' in data ? (data.max_num_logs ?? Infinity) : Infinity,
    maxBlocks: 'max_num_blocks' in data ? (data.max_num_blocks ?? Infinity) : Infinity,
  }
}

const UTF8 = new TextDecoder('utf8', { fatal: true })

/** Undefined where it is no JSON, or where a key is there twice: then the text has more keys than the value. */
const parsed = (bytes: Buffer): unknown => {
  try {
    const text = UTF8.decode(bytes)
    const value: unknown = JSON.parse(text)
    if (!text.includes('__proto__') && JSON.stringify(value) === text) return value
    const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?<colon>\s*:)?/g)]
    const keys = keysIn(value)
    const isPlain = strings.filter(({ groups }) => groups?.['colon']).length === keys.length
    return isPlain && !keys.includes('__proto__') ? value : undefined
  } catch {
    return undefined
  }
}

const keysIn = (value: unknown): readonly string[] =>
  typeof value !== 'object' || value === null
    ? []
    : [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(keysIn)]

/** A row of an answer as JSON, and its block. */
export interface Row {
  readonly block: number
  readonly json: string
}

/** Every matching log: the naive filter over the whole chain. */
const matching = (chain: readonly Block[], { from, end, filters }: Wanted) =>
  chain
    .filter(({ number }) => number >= from && number <= end)
    .flatMap((block) =>
      block.logs.filter((log) => filters.some((filter) => keeps(filter, log))).map((log) => ({ block, log })),
    )

export const expectedLogs = (chain: readonly Block[], wanted: Wanted): readonly Row[] =>
  matching(chain, wanted).map(({ block, log }) => {
    const values = wanted.fields.map((field) => [field, VALUES[field](block, log)])
    return { block: block.number, json: JSON.stringify(Object.fromEntries(values)) }
  })

const TRANSACTION_VALUES: Readonly<Record<TransactionField, (block: Block, log: StoredLog) => string | number>> = {
  block_hash: (block) => block.hash,
  block_number: (block) => block.number,
  hash: (_, log) => log.transactionHash,
  transaction_index: (_, log) => log.transactionIndex,
}

/** Every transaction of these logs, once. */
export const expectedTransactions = (chain: readonly Block[], wanted: Wanted): readonly Row[] => {
  const rows = new Map<string, Row>()
  if (wanted.transactionFields.length === 0) return []
  for (const { block, log } of matching(chain, wanted)) {
    const values = wanted.transactionFields.map((field) => [field, TRANSACTION_VALUES[field](block, log)])
    const row = { block: block.number, json: JSON.stringify(Object.fromEntries(values)) }
    rows.set(`${block.number} ${log.transactionIndex}`, row)
  }
  return [...rows.values()]
}

/** Every block to return in addition to these logs. */
export const expectedBlocks = (
  chain: readonly Block[],
  { from, end, allBlocks, blockFields }: Wanted,
  logs: readonly Row[],
): readonly Row[] => {
  if (blockFields.length === 0) return []
  const found = new Set(logs.map(({ block }) => block))
  const isTold = (number: number): boolean => (allBlocks ? number >= from && number <= end : found.has(number))
  return chain
    .filter(({ number }) => isTold(number))
    .map((block) => {
      const values = {
        number: block.number,
        hash: block.hash,
        parent_hash: block.parentHash,
        timestamp: `0x${block.timestamp.toString(16)}`,
      }
      const told = blockFields.map((field) => [field, values[field]])
      return { block: block.number, json: JSON.stringify(Object.fromEntries(told)) }
    })
}
