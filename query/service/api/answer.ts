import type { Clock } from '../../../src/core/clock.ts'
import type { LogField } from '../../log-fields.ts'
import { emptyStore, prunedBlocks, StoreError } from '../../store/errors.ts'
import type { BlockHeader, BytesEncoding, LogPage, LogStore, Selection } from '../../store/store.ts'
import type { Heights } from './heights.ts'
import type { QueryLimits } from './limits.ts'
import type { BlockField, ParsedQuery, TransactionField } from './parse-query.ts'

export interface QueryOptions {
  readonly store: LogStore
  readonly heights: Heights
  readonly limits: Pick<QueryLimits, 'pageBytes' | 'pageLogs' | 'pageMs'>
  readonly clock: Clock
  readonly encoding: BytesEncoding
  readonly valueShare: (fields: readonly LogField[]) => number
}

export type ReadPage = Awaited<ReturnType<typeof readPage>>

/** Largest number of blocks in a page if the query asks for every block. */
const MOST_BLOCKS = 5000

/** Reads one page of the query. Throws a StoreError. */
export const readPage = async (query: ParsedQuery, options: QueryOptions, signal: AbortSignal) => {
  const logs = await read(selectionOf(query, options), options, signal)
  return { query, logs, height: options.heights.atLeast(logs.range.last) }
}

/** What clients of the hosted service get. */
export type HostedPage = Awaited<ReturnType<typeof readHostedPage>>

/** The same with headers and transactions, for clients of the hosted service. A page may cover no block. */
export const readHostedPage = async (query: ParsedQuery, options: QueryOptions, signal: AbortSignal) => {
  const { store, clock, heights } = options
  const startedAt = clock.elapsed()
  const isBackwards = query.to !== null && query.to < query.from
  const page = isBackwards ? null : await readPage(query, options, signal).catch(ifEmpty)
  const heads = page && (await headsOf(query, page.logs, store))
  return {
    query,
    /** Null: the range has no block, or the store is empty. */
    logs: page && page.logs,
    /** First block that the page does not cover. */
    next: page?.logs.next ?? query.from,
    /** Of the service; null while the store is empty. */
    height: page ? page.height : isBackwards ? heights.current() : null,
    blocks: heads?.blocks ?? [],
    /** The first log of each transaction, as a row of the page. */
    transactions: page ? transactionsOf(query, page.logs) : [],
    /** Headers whose hashes show clients of the hosted service that consecutive pages are of one chain. */
    guard: heads?.guard ?? null,
    milliseconds: clock.elapsed() - startedAt,
  }
}

const ifEmpty = (error: unknown): null => {
  if (error instanceof StoreError && error.kind === 'empty') return null
  throw error
}

/** The column that a field of a transaction is in: that of its logs. */
export const LOG_FIELD_OF: Readonly<Record<TransactionField, LogField>> = {
  block_hash: 'block_hash',
  block_number: 'block_number',
  hash: 'transaction_hash',
  transaction_index: 'transaction_index',
}

/** A hash or a quantity as hex digits. */
export const BLOCK_VALUES: Readonly<Record<BlockField, (block: BlockHeader) => number | string>> = {
  number: ({ number }) => number,
  hash: ({ hash }) => hash,
  parent_hash: ({ parentHash }) => parentHash,
  timestamp: ({ timestamp }) => `0x${timestamp.toString(16)}`,
}

const selectionOf = (query: ParsedQuery, { limits, encoding, valueShare }: QueryOptions): Selection => {
  const { from, filters, fields, transactionFields, maxLogs } = query
  const lastAllowed = query.blocks === 'all' ? from + MOST_BLOCKS - 1 : Number.MAX_SAFE_INTEGER
  const joined =
    transactionFields.length === 0 ? [] : [IN_BLOCK, ...transactionFields.map((field) => LOG_FIELD_OF[field])]
  return {
    from,
    to: Math.min(query.to ?? Number.MAX_SAFE_INTEGER, lastAllowed),
    filters,
    fields: [...new Set([...fields, ...joined])],
    encoding,
    maxLogs: Math.max(1, Math.min(limits.pageLogs, maxLogs ?? limits.pageLogs)),
    maxBytes: Math.floor(limits.pageBytes * valueShare(fields)),
    maxMs: limits.pageMs,
  }
}

const IN_BLOCK: LogField = 'transaction_index'

/** Logs are in the order of their transactions. */
const transactionsOf = ({ transactionFields }: ParsedQuery, { blocks, columns }: LogPage): readonly number[] => {
  const indexes = columns.get(IN_BLOCK) ?? []
  const isFirst = (row: number): boolean => blocks[row] !== blocks[row - 1] || indexes[row] !== indexes[row - 1]
  return transactionFields.length === 0 ? [] : [...blocks.keys()].filter(isFirst)
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
  if (range === null) throw emptyStore()
  if (from < range.first) throw prunedBlocks(range.first)
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
  const [first, end] = [heads.get(from), heads.get(last)]
  if (heads.size < numbers.length || !first || !end) throw await missingHeaders(from, store)
  return { blocks: listed.flatMap((number) => heads.get(number) ?? []), guard: { first, last: end } }
}

const numbersOf = ({ blocks, from }: ParsedQuery, page: LogPage): readonly number[] =>
  blocks === 'all' ? Array.from({ length: page.next - from }, (_, index) => from + index) : [...new Set(page.blocks)]

/** The store may have pruned the oldest blocks between the two reads. */
const missingHeaders = async (from: number, store: LogStore): Promise<Error> => {
  const first = (await store.range())?.first ?? null
  return first === null || first <= from
    ? new Error(`the store has logs of block ${from} without its header`)
    : prunedBlocks(first)
}
