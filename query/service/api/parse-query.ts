import { z } from 'zod'
import { endOfString, exceededLimit, isObject, type JsonLimits, withoutMinus } from '../../../src/core/json.ts'
import { plainText } from '../../../src/core/redaction/redact.ts'
import { LOG_FIELDS, type LogField } from '../../log-fields.ts'
import type { Filter } from '../../store/store.ts'
import { HttpError } from './http-error.ts'
import type { QueryLimits } from './limits.ts'
import { isUtf8 } from 'node:buffer'

const UTF8 = new TextDecoder()

/**
 * The JSON object in a body. Nothing is parsed of a body that exceeds a limit. Duplicate keys are rejected: JSON parsers
 * differ in which of the two they use. Throws an HttpError.
 */
export const parseBody = (body: Buffer, limits: JsonLimits): Readonly<Record<string, unknown>> => {
  const exceeded = exceededLimit(body, limits)
  if (exceeded === 'depth') throw new HttpError('bad_json', 'the body is nested too deeply')
  if (exceeded === 'values') throw new HttpError('too_many', `more than ${limits.values} JSON values in one request`)
  const value = parse(body)
  if (!isObject(value)) throw new HttpError('bad_json', 'the body is not a JSON object')
  checkKeys(body)
  return value
}

/** Bytes that are not UTF-8 are not JSON either. */
const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(isUtf8(body) ? UTF8.decode(body) : '')
  } catch {
    throw new HttpError('bad_json', 'the body is not valid JSON in UTF-8')
  }
}

/** `logs[0].topics[1]` */
const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')

/** An object with its keys so far, or a list with the current index. */
interface Level {
  readonly keys: Set<string> | null
  /** Null if the next string is a key. */
  at: string | number | null
}

/** Checks for duplicate keys. The body is known to be valid JSON. */
const checkKeys = (body: Buffer): void => {
  const levels: Level[] = []
  let level: Level | undefined
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  for (let position = 0; position < body.length; position += 1) {
    const code = body[position] ?? 0
    if (code === QUOTE) {
      const end = endOfString(view, position)
      if (level?.keys && level.at === null) {
        level.at = String(JSON.parse(body.toString('utf8', position, end + 1)))
        if (level.keys.has(level.at)) throw new HttpError('bad_json', 'duplicate key', { path: pathOf(levels) })
        level.keys.add(level.at)
      }
      position = end
    } else if (code === BRACE || code === BRACKET) {
      level = code === BRACE ? { keys: new Set(), at: null } : { keys: null, at: 0 }
      levels.push(level)
    } else if (code === BRACE + 2 || code === BRACKET + 2) {
      levels.pop()
      level = levels.at(-1)
    } else if (code === POINT) checkFraction(body, position, levels)
    else if (code === COMMA && level) level.at = typeof level.at === 'number' ? level.at + 1 : null
  }
}

const pathOf = (levels: readonly Level[]): string => formatPath(levels.map(({ at }) => at ?? '')).slice(0, 200)

/** JSON.parse rounds the fraction of a large number away. */
const checkFraction = (body: Buffer, position: number, levels: readonly Level[]): void => {
  const before = /-?\d+$/.exec(body.toString('latin1', Math.max(0, position - 20), position))?.[0] ?? ''
  const after = /^\.\d+/.exec(body.toString('latin1', position, position + 20))?.[0] ?? ''
  const isRounded = Number.isInteger(Number(before + after)) && /[1-9]/.test(after)
  if (!isRounded) return
  throw new HttpError('bad_value', `expected a whole number, got ${before}${after}`, { path: pathOf(levels) })
}

const QUOTE = 0x22
const POINT = 0x2e
const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b

/**
 * `spec`: to_block is inclusive, next_block is absent on the last page, one entry of data per block. `hosted`:
 * compatible with the hosted service and its clients: to_block is exclusive, next_block is always present.
 */
export type Dialect = 'spec' | 'hosted'

export const BLOCK_FIELDS = ['number', 'hash', 'parent_hash', 'timestamp'] as const

export type BlockField = (typeof BLOCK_FIELDS)[number]

/** Of a transaction the store knows what its logs have. */
export const TRANSACTION_FIELDS = ['block_hash', 'block_number', 'hash', 'transaction_index'] as const

export type TransactionField = (typeof TRANSACTION_FIELDS)[number]

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
  /** Fields of the transactions of the matching logs. */
  readonly transactionFields: readonly TransactionField[]
  /** Null: as many as a page holds. */
  readonly maxLogs: number | null
}

interface QueryRules {
  readonly dialect: Dialect
  /** What the store keeps of each block. */
  readonly scope: Filter
  readonly limits: Pick<QueryLimits, 'filters' | 'values'>
}

/** The query in a request. Throws an HttpError with the path of the invalid value. */
type QueryParser = (request: Readonly<Record<string, unknown>>) => ParsedQuery

export const createQueryParser = (rules: QueryRules): QueryParser => {
  const schema = rules.dialect === 'spec' ? specSchema(rules) : hostedSchema(rules)
  return (request) => {
    const { data, error } = schema.safeParse(request, { reportInput: true })
    if (error === undefined) return data
    const { error: refusal, path } = refusalOf(error)
    throw new HttpError(refusal.code, refusal.message, { path: formatPath(path) })
  }
}

const specSchema = (rules: QueryRules) =>
  object({
    from_block: wholeNumber,
    to_block: wholeNumber.nullish(),
    logs: filtersOf(FILTER, rules),
    field_selection: object({
      log: names(LOG_FIELDS).refine(({ length }) => length > 0, `some of ${LOG_FIELDS.join(', ')}`),
    }),
  }).transform(({ from_block: from, to_block: to, logs: filters, field_selection: { log } }, context): ParsedQuery => {
    expectOrder(from, to, context)
    return {
      from,
      to: to ?? null,
      filters,
      fields: log,
      blockFields: [],
      transactionFields: [],
      blocks: 'matching',
      maxLogs: null,
    }
  })

/** A query as clients of the hosted service send it. Features that only the hosted service has are rejected by name. */
const hostedSchema = (rules: QueryRules) =>
  object({
    from_block: wholeNumber,
    to_block: wholeNumber.nullish(),
    logs: filtersOf(HOSTED_FILTER, rules).default([]),
    field_selection: object({
      block: servedNames(BLOCK_FIELDS, 'a block').default([]),
      log: names(LOG_FIELDS).default([]),
      transaction: servedNames(TRANSACTION_FIELDS, 'a transaction').default([]),
      trace: nothing('traces are not available'),
    }).nullish(),
    include_all_blocks: z.boolean('true or false').nullish(),
    /** Whether blocks are returned together with their logs. */
    join_mode: z
      .enum(['Default', 'JoinNothing', 'JoinAll'], 'Default or JoinNothing')
      .nullish()
      .superRefine((mode, context) => {
        if (mode === 'JoinAll') refuse(context, new HttpError('not_served', NO_JOIN_ALL))
      }),
    transactions: nothing(ONLY_LOGS),
    traces: nothing(ONLY_LOGS),
    blocks: nothing(ONLY_LOGS),
    max_num_blocks: wholeNumber.nullish(),
    max_num_transactions: wholeNumber.nullish(),
    max_num_logs: wholeNumber.nullish(),
    max_num_traces: wholeNumber.nullish(),
  }).transform((query): ParsedQuery => {
    const { from_block: from, to_block: end, max_num_blocks: maxBlocks, field_selection: selection } = query
    const isJoined = query.join_mode !== 'JoinNothing'
    const maxLogs = Math.min(query.max_num_logs ?? Infinity, query.max_num_transactions ?? Infinity)
    const includesAll = query.include_all_blocks === true
    // A limit on blocks searched also limits the blocks found.
    const to = Math.min((end ?? Infinity) - 1, from + Math.max(1, maxBlocks ?? Infinity) - 1)
    return {
      from,
      to: to === Infinity ? null : Math.min(to, Number.MAX_SAFE_INTEGER),
      filters: query.logs,
      fields: selection?.log ?? [],
      blockFields: includesAll || isJoined ? (selection?.block ?? []) : [],
      transactionFields: isJoined ? (selection?.transaction ?? []) : [],
      blocks: includesAll ? 'all' : 'matching',
      // A page ends with the block that reaches a limit, and a block has as many logs as transactions with logs.
      maxLogs: maxLogs === Infinity ? null : maxLogs,
    }
  })

const NO_JOIN_ALL = 'joining the other logs of a transaction is not supported; use Default or JoinNothing'
const ONLY_LOGS = 'only logs can be selected'

const expectOrder = (from: number, to: number | null | undefined, context: z.RefinementCtx): void => {
  if (typeof to !== 'number' || to >= from) return
  refuse(context, new HttpError('bad_value', 'to_block is less than from_block'), ['to_block'])
}

/** Adds an error whose message is complete. The errors of the schemas only name what is expected. */
const refuse = (context: z.RefinementCtx, error: HttpError, path: PropertyKey[] = []): void =>
  context.addIssue({ code: 'custom', path, params: { error } })

/** The first error. An unknown field comes first: it may be the missing one, misspelled. */
const refusalOf = ({ issues }: z.ZodError): { error: HttpError; path: readonly PropertyKey[] } => {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  const path = issue?.path ?? []
  if (issue?.code === 'unrecognized_keys')
    return { error: new HttpError('unknown_field', issue.message), path: [...path, shorten(issue.keys[0] ?? '')] }
  const error: unknown = issue?.code === 'custom' ? issue.params?.['error'] : undefined
  if (error instanceof HttpError) return { error, path }
  return { error: new HttpError('bad_value', `expected ${issue?.message}, got ${describe(issue?.input)}`), path }
}

const SHOWN = 60

const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

/** Describes the received value, truncated so that an error never echoes the whole body. */
const describe = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null
    ? 'an object'
    : shorten(plainText(JSON.stringify(value), 2 * SHOWN))
}

const WHOLE_NUMBER = 'a whole number from 0 to 2^53-1'
const wholeNumber = z.int(WHOLE_NUMBER).min(0, WHOLE_NUMBER).overwrite(withoutMinus)

/** An object with these keys only. */
const object = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown field; known fields: ${Object.keys(shape).join(', ')}` : 'an object',
  })

type Within = Readonly<{ context: z.RefinementCtx; path: PropertyKey[] }>

/** Adds the first error of a value within the one that is parsed. */
const parseWithin = <Schema extends z.ZodType>(schema: Schema, value: unknown, within: Within): z.output<Schema> => {
  const { data, error } = schema.safeParse(value, { reportInput: true })
  if (error === undefined) return data
  const refusal = refusalOf(error)
  refuse(within.context, refusal.error, [...within.path, ...refusal.path])
  return z.NEVER
}

interface ListRules {
  readonly expected?: string
  /** Reported for the entry at this index. */
  readonly end?: { readonly at: number; readonly error: HttpError }
}

/**
 * Not z.array: it reads all entries and collects an error for each. A body has room for 500,000 invalid ones, for which
 * it takes seconds. This one ends at the first.
 */
const listOf = <Entry extends z.ZodType>(entry: Entry, { expected = 'a list', end }: ListRules = {}) =>
  z.custom<readonly unknown[]>(Array.isArray, expected).transform((values, context): readonly z.output<Entry>[] => {
    const parsed: z.output<Entry>[] = []
    for (const [index, value] of values.entries()) {
      if (index === end?.at) refuse(context, end.error, [index])
      else parsed.push(parseWithin(entry, value, { context, path: [index] }))
      if (context.issues.length > 0) return z.NEVER
    }
    return parsed
  })

/** Selected names, without duplicates and in the order of the list. */
const names = <Name extends string>(list: readonly Name[]) =>
  listOf(z.enum(list, `one of ${list.join(', ')}`)).transform((selected) => {
    const wanted = new Set<string>(selected)
    return list.filter((name) => wanted.has(name))
  })

/** The same, of which the hosted service has more. */
const servedNames = <Name extends string>(list: readonly Name[], what: string) =>
  listOf(
    z.string(`one of ${list.join(', ')}`).superRefine((name, context) => {
      if (list.some((served) => served === name)) return
      const why = `the field ${shorten(name)} of ${what} is not kept; this service has ${list.join(', ')}: read others from a node`
      refuse(context, new HttpError('not_served', why))
    }),
  ).transform((selected) => list.filter((name) => selected.includes(name)))

/** A list of what this service does not have: it must be absent or empty. */
const nothing = (why: string) =>
  listOf(z.never(), { end: { at: 0, error: new HttpError('not_served', why) } }).nullish()

const hex = (digits: number, what: string) => {
  const expected = `${what}: 0x and ${digits} hex digits`
  return z
    .string(expected)
    .regex(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`), expected)
    .toLowerCase()
}

const TOPIC_POSITIONS = 4

const FILTER = object({
  address: listOf(hex(40, 'an address')).default([]),
  topics: listOf(listOf(hex(64, 'a topic')), {
    end: { at: TOPIC_POSITIONS, error: new HttpError('bad_value', 'a log has at most four topics') },
  }).default([]),
})

/** What only the hosted service supports: it must be absent or null. */
const notServed = (why: string) =>
  z
    .unknown()
    .superRefine((value, context) => {
      if (value !== null) refuse(context, new HttpError('not_served', why))
    })
    .optional()

const NO_EXCLUDE = 'excluding logs is not supported; leave them out after the query'
const FLAT_FILTER = FILTER.safeExtend({
  address_filter: notServed('a filter of addresses is not supported; list them in address'),
  exclude: notServed(NO_EXCLUDE),
})
const INCLUDED = object({ include: FLAT_FILTER, exclude: notServed(NO_EXCLUDE) })

/** `{include, exclude}` or the filter itself, in which clients of the hosted service write `exclude`, too. */
const HOSTED_FILTER = z.unknown().transform((value, context): z.output<typeof FILTER> => {
  const within = { context, path: [] }
  const isFilter = typeof value !== 'object' || value === null || !('include' in value)
  return isFilter ? parseWithin(FLAT_FILTER, value, within) : parseWithin(INCLUDED, value, within).include
})

/**
 * The alternatives of a query, each within the scope of the store. An empty list matches no log; `logs` itself is
 * required.
 */
const filtersOf = (entry: typeof FILTER | typeof HOSTED_FILTER, { limits, scope }: QueryRules) =>
  listOf(entry, {
    expected: 'a list of filters',
    end: {
      at: limits.filters,
      error: new HttpError('too_many', `more than ${limits.filters} filters in one request`),
    },
  }).transform((entries, context): readonly Filter[] => {
    let left = limits.values
    for (const [index, { address, topics }] of entries.entries())
      for (const { values, kept, path } of [
        { values: address, kept: scope.addresses, path: [index, 'address'] },
        ...Array.from({ length: TOPIC_POSITIONS }, (_, at) => ({
          values: topics[at] ?? [],
          kept: scope.topics[at] ?? [],
          path: [index, 'topics', at],
        })),
      ]) {
        if (values.length > left)
          refuse(context, new HttpError('too_many', `more than ${limits.values} values in one request`), [
            ...path,
            left,
          ])
        // Without values the filter matches all: a response from the kept logs would look complete and not be it.
        else if (kept.length > 0 && (values.length === 0 || !values.every((value) => kept.includes(value))))
          refuse(context, notIndexed(scope, values), path)
        left -= values.length
      }
    return deduplicate(
      entries.map(({ address, topics }) => ({ addresses: unique(address), topics: trimTopics(topics.map(unique)) })),
    )
  })

const unique = (values: readonly string[]): readonly string[] => [...new Set(values)]

/** A trailing position without values adds no condition. */
const trimTopics = (topics: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  topics.slice(0, topics.findLastIndex((values) => values.length > 0) + 1)

/** A filter that matches every log makes the others redundant. */
const deduplicate = (filters: readonly Filter[]): readonly Filter[] => {
  const any = filters.find(({ addresses, topics }) => addresses.length === 0 && topics.length === 0)
  return any ? [any] : [...new Map(filters.map((filter) => [JSON.stringify(filter), filter])).values()]
}

const notIndexed = ({ addresses, topics }: Filter, requested: readonly string[]): HttpError => {
  const kept = [
    ...(addresses.length === 0 ? [] : [`of ${describeValues(addresses)}`]),
    ...topics.flatMap((values, at) => (values.length === 0 ? [] : [`with topic${at} ${describeValues(values)}`])),
  ]
  const advice = requested.length === 0 ? '; name them in the filter' : ''
  return new HttpError('not_indexed', `this service keeps only logs ${kept.join(' ')}${advice}`)
}

const describeValues = (values: readonly string[]): string => {
  const shown = values.slice(0, 5)
  const more = values.length - shown.length
  return `${shown.join(' or ')}${more > 0 ? ` (and ${more} more)` : ''}`
}
