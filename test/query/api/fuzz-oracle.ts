import { z } from 'zod'
import { LOG_FIELDS, type LogField } from '../../../query/log-fields.ts'
import { BLOCK_FIELDS, type BlockField, type Dialect } from '../../../query/service/api/parse-query.ts'
import type { Block, Filter } from '../../../query/store/store.ts'
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
const HOSTED = z.strictObject({
  from_block: BLOCK,
  to_block: BLOCK.nullish(),
  logs: z.array(z.union([FILTER, z.strictObject({ include: FILTER, exclude: z.null().optional() })])).max(MOST_FILTERS),
  field_selection: z
    .strictObject({
      log: z.array(z.enum(LOG_FIELDS)).optional(),
      block: z.array(z.enum(BLOCK_FIELDS)).optional(),
      transaction: NOTHING,
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
  if (values.length > MOST_VALUES || (to !== null && to < data.from_block)) return undefined
  const selection: {
    readonly log?: readonly string[] | undefined
    readonly block?: readonly string[] | undefined
  } = data.field_selection ?? {}
  const allBlocks = 'include_all_blocks' in data && data.include_all_blocks === true
  const isJoined = !('join_mode' in data) || data.join_mode !== 'JoinNothing' || allBlocks
  return {
    from: data.from_block,
    end: Math.min(last, to === null ? last : dialect === 'spec' ? to : to - 1),
    filters: logs.map(({ address = [], topics = [] }) => ({ addresses: address, topics })),
    fields: LOG_FIELDS.filter((field) => selection.log?.includes(field)),
    blockFields: isJoined ? BLOCK_FIELDS.filter((field) => selection.block?.includes(field)) : [],
    allBlocks,
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
export const expectedLogs = (chain: readonly Block[], { from, end, filters, fields }: Wanted): readonly Row[] => {
  const rows: Row[] = []
  for (const block of chain) {
    if (block.number < from || block.number > end) continue
    for (const log of block.logs) {
      if (!filters.some((filter) => keeps(filter, log))) continue
      const values = fields.map((field) => [field, VALUES[field](block, log)])
      rows.push({ block: block.number, json: JSON.stringify(Object.fromEntries(values)) })
    }
  }
  return rows
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
