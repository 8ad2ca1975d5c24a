import type { Clock } from '../../../src/core/clock.ts'
import type { LogField } from '../../log-fields.ts'
import { StoreError } from '../../store/errors.ts'
import type { BlockHeader, LogPage, LogStore, Selection } from '../../store/store.ts'
import type { QueryLimits } from './limits.ts'
import type { BlockField, Dialect, ParsedQuery } from './parse-query.ts'

export interface QueryOptions {
  readonly store: LogStore
  readonly dialect: Dialect
  readonly limits: Pick<QueryLimits, 'pageBytes' | 'pageLogs' | 'pageMs'>
  readonly clock: Clock
}

/** The encoded page and the number of logs in it. */
export interface QueryAnswer {
  readonly body: Buffer
  readonly logs: number
}

/** Largest number of blocks in a page if the query asks for every block. */
const MOST_BLOCKS = 5000

/** Reads one page of the query from the store and encodes it. Throws a StoreError. */
export const answerQuery = async (
  query: ParsedQuery,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<QueryAnswer> =>
  options.dialect === 'spec' ? answerSpec(query, options, signal) : answerHosted(query, options, signal)

const answerSpec: typeof answerQuery = async (query, options, signal) => {
  const selection = selectionOf(query, options)
  const page = await read(selection, options, signal)
  const isDone = page.next > Math.min(selection.to, page.range.last)
  return { body: encodeSpec(page, query.fields, isDone), logs: page.count }
}

const answerHosted: typeof answerQuery = async (query, options, signal) => {
  const { store, clock } = options
  const startedAt = clock.elapsed()
  const selection = selectionOf(query, options)
  const emptyPage = (last: number | null): QueryAnswer => {
    const milliseconds = clock.elapsed() - startedAt
    return { body: encodeEmpty({ next: query.from, last, milliseconds, guard: null }), logs: 0 }
  }
  if (selection.to < selection.from) return emptyPage((await store.range())?.last ?? null)
  let page: LogPage
  try {
    page = await read(selection, options, signal)
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'empty') return emptyPage(null)
    throw error
  }
  const { blocks, guard } = await headsOf(query, page, store)
  const milliseconds = clock.elapsed() - startedAt
  const { fields, blockFields } = query
  return {
    body: encodeHosted({ logPage: page, fields, blocks, blockFields, guard, milliseconds }),
    logs: fields.length === 0 ? 0 : page.count,
  }
}

const selectionOf = (query: ParsedQuery, { limits }: QueryOptions): Selection => {
  const { from, filters, fields, maxLogs } = query
  const lastAllowed = query.blocks === 'all' ? from + MOST_BLOCKS - 1 : Number.MAX_SAFE_INTEGER
  return {
    from,
    to: Math.min(query.to ?? Number.MAX_SAFE_INTEGER, lastAllowed),
    filters,
    fields,
    maxLogs: Math.max(1, Math.min(limits.pageLogs, maxLogs ?? limits.pageLogs)),
    maxBytes: Math.floor(limits.pageBytes * valueShare(fields)),
    maxMs: limits.pageMs,
  }
}

/** Throws if the store returns a page that covers no block, or rows outside of the requested range. */
const read = async (selection: Selection, { store }: QueryOptions, signal: AbortSignal): Promise<LogPage> => {
  const { from, to, filters } = selection
  const page = await (filters.length === 0 ? readEmpty(selection, store) : store.read(selection, signal))
  const last = Math.min(to, page.range.last)
  const isCovered = from > last ? page.next === from : page.next > from && page.next <= last + 1
  const { blocks } = page
  const isInside = blocks.every((block, row) => block >= Math.max(from, blocks[row - 1] ?? from) && block < page.next)
  if (isCovered && isInside && blocks.length === page.count) return page
  throw new Error(`the store returned a page up to ${page.next} for blocks ${from} to ${to}`)
}

/** A query without filters matches no log: every block is covered, as if none had a matching log. */
const readEmpty = async ({ from, to, fields }: Selection, store: LogStore): Promise<LogPage> => {
  const range = await store.range()
  if (range === null) {
    throw new StoreError('empty', { doing: 'read logs', happened: 'the store has no blocks yet' })
  }
  if (from < range.first) throw pruned(from, range.first)
  return {
    count: 0,
    blocks: [],
    columns: new Map(fields.map((field) => [field, []])),
    next: Math.max(from, Math.min(to, range.last) + 1),
    range,
  }
}

/** The headers of the requested blocks, and of the first and last block of the page. */
const headsOf = async (query: ParsedQuery, page: LogPage, store: LogStore) => {
  const { from } = query
  const last = page.next - 1
  if (last < from) return { blocks: [], guard: null }
  const listed = query.blockFields.length === 0 ? [] : numbersOf(query, page)
  const numbers = [...new Set([from, ...listed, last])]
  const heads = new Map((await store.heads(numbers)).map((head) => [head.number, head]))
  const first = heads.get(from)
  const end = heads.get(last)
  if (heads.size < numbers.length || !first || !end) throw await missingHeaders(from, store)
  const blocks = listed.flatMap((number): readonly BlockHeader[] => {
    const head = heads.get(number)
    return head ? [head] : []
  })
  return { blocks, guard: { first, last: end } }
}

const numbersOf = ({ blocks, from }: ParsedQuery, page: LogPage): readonly number[] =>
  blocks === 'all' ? Array.from({ length: page.next - from }, (_, index) => from + index) : [...new Set(page.blocks)]

/** The store may have pruned the oldest blocks between the two reads. */
const missingHeaders = async (from: number, store: LogStore): Promise<Error> => {
  const first = (await store.range())?.first ?? null
  return first === null || first <= from
    ? new Error(`the store has logs of block ${from} without its header`)
    : pruned(from, first)
}

const pruned = (from: number, first: number): StoreError =>
  new StoreError('pruned', { doing: `read blocks from ${from} on`, happened: `the first block is ${first}` }, first)

/** Characters of a typical value. */
const WIDTHS: Readonly<Record<LogField, number>> = {
  removed: 5,
  log_index: 3,
  transaction_index: 3,
  transaction_hash: 66,
  block_hash: 66,
  block_number: 8,
  address: 42,
  data: 66,
  topic0: 66,
  topic1: 66,
  topic2: 66,
  topic3: 66,
}

/** Quotes, colon and comma. */
const PUNCTUATION = 6

/** The share of a page that is values: the store counts values only, but the page also has keys and punctuation. */
const valueShare = (fields: readonly LogField[]): number => {
  const values = fields.reduce((sum, field) => sum + WIDTHS[field], 0)
  const keys = fields.reduce((sum, field) => sum + field.length + PUNCTUATION, 2)
  return Math.max(values, 1) / (Math.max(values, 1) + keys)
}

/** Hashes with which clients of the hosted service check that consecutive pages are of one chain. */
interface Guard {
  readonly first: BlockHeader
  readonly last: BlockHeader
}

/**
 * Encodes a log as JSON directly from columns. The store holds hex only, so no value needs escaping. Measured in CPU
 * time on Node.js 20, 1,000 logs: 0.4 to 0.8 ms with all fields and 0.2 to 0.3 ms with five; JSON.stringify of objects
 * takes 1.1 to 1.3 and 0.4 to 0.5 ms.
 */
const createEncodeLog = ({ columns, count }: LogPage, fields: readonly LogField[]): ((row: number) => string) => {
  const cells = fields.map((field, index) => {
    const column = columns.get(field)
    if (column?.length !== count) throw new Error(`the store returned too few values of ${field}`)
    return { column, key: `${index === 0 ? '{' : ','}"${field}":` }
  })
  return (row) => {
    let text = ''
    for (const { column, key } of cells) {
      const cell = column[row] ?? null
      text += typeof cell === 'string' ? `${key}"${cell}"` : `${key}${cell}`
    }
    return `${text}}`
  }
}

/** `{"logs":[…],"block":7}` for each block with logs. Clients count `"block_number"`, so only logs have that key. */
const encodeSpec = (page: LogPage, fields: readonly LogField[], isDone: boolean): Buffer => {
  const encodeLog = createEncodeLog(page, fields)
  let text = '{"data":['
  for (const [row, block] of page.blocks.entries()) {
    const isFirst = block !== page.blocks[row - 1]
    text += `${row === 0 ? '' : ','}${isFirst ? '{"logs":[' : ''}${encodeLog(row)}`
    if (block !== page.blocks[row + 1]) text += `],"block":${block}}`
  }
  const next = isDone ? '' : `"next_block":${page.next},`
  return Buffer.from(`${text}],${next}"archive_height":${page.range.last}}`, 'latin1')
}

interface HostedPage {
  readonly logPage: LogPage
  readonly fields: readonly LogField[]
  readonly blocks: readonly BlockHeader[]
  readonly blockFields: readonly BlockField[]
  readonly guard: Guard | null
  readonly milliseconds: number
}

/** One batch for the whole page, or none. */
const encodeHosted = ({ logPage, fields, blocks, blockFields, guard, milliseconds }: HostedPage): Buffer => {
  const encodeLog = createEncodeLog(logPage, fields)
  const blockTexts = blocks.map((block) => encodeBlock(block, blockFields))
  let logs = ''
  if (fields.length > 0)
    for (let row = 0; row < logPage.count; row += 1) logs += `${row === 0 ? '' : ','}${encodeLog(row)}`
  const isEmpty = logs === '' && blocks.length === 0
  const batch = isEmpty ? '' : `{"blocks":[${blockTexts.join(',')}],"transactions":[],"logs":[${logs}],"traces":[]}`
  const envelope = envelopeText({ next: logPage.next, last: logPage.range.last, milliseconds, guard })
  return Buffer.from(`{"data":[${batch}],${envelope}}`, 'latin1')
}

interface Envelope {
  readonly next: number
  /** Null: the store is empty. */
  readonly last: number | null
  readonly milliseconds: number
  readonly guard: Guard | null
}

const encodeEmpty = (envelope: Envelope): Buffer => Buffer.from(`{"data":[],${envelopeText(envelope)}}`, 'latin1')

const envelopeText = ({ next, last, milliseconds, guard }: Envelope): string => {
  const rollbackGuard = guard && {
    block_number: guard.last.number,
    timestamp: guard.last.timestamp,
    hash: guard.last.hash,
    first_block_number: guard.first.number,
    first_parent_hash: guard.first.parentHash,
  }
  return `"archive_height":${last},"next_block":${next},"total_execution_time":${Math.round(milliseconds)},"rollback_guard":${JSON.stringify(rollbackGuard)}`
}

const BLOCK_VALUES: Readonly<Record<BlockField, (block: BlockHeader) => number | string>> = {
  number: ({ number }) => number,
  hash: ({ hash }) => hash,
  parent_hash: ({ parentHash }) => parentHash,
  timestamp: ({ timestamp }) => `0x${timestamp.toString(16)}`,
}

const encodeBlock = (block: BlockHeader, fields: readonly BlockField[]): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, BLOCK_VALUES[field](block)])))
