import { type Clock } from '../../../core/clock.ts'
import { StoreError } from '../../store/errors.ts'
import type { BlockHead, Found, LogStore, Selection } from '../../store/store.ts'
import { type Asked, type Dialect } from './asked.ts'
import { encodeHosted, encodeNothing, encodeSpec } from './encode.ts'
import { type QueryLimits } from './limits.ts'
import { shareOfValues } from './page-size.ts'

export interface AnswerOptions {
  readonly store: LogStore
  readonly dialect: Dialect
  readonly limits: Pick<QueryLimits, 'pageBytes' | 'pageLogs' | 'pageMs'>
  readonly clock: Clock
}

/** A page, and how many logs are in it. */
export interface Answered {
  readonly body: Buffer
  readonly logs: number
}

/** Where every block is told of, so many in a page. */
const MOST_BLOCKS = 5000

/** What is held of what was asked for, as one page. Throws StoreError. */
export const answer = async (
  asked: Asked,
  options: AnswerOptions,
  signal: AbortSignal,
): Promise<Answered> =>
  options.dialect === 'spec'
    ? answerSpec(asked, options, signal)
    : answerHosted(asked, options, signal)

const answerSpec: typeof answer = async (asked, options, signal) => {
  const selection = selectionOf(asked, options)
  const found = await read(selection, options, signal)
  const isDone = found.next > Math.min(selection.to, found.range.last)
  return { body: encodeSpec(found, asked.fields, isDone), logs: found.count }
}

const answerHosted: typeof answer = async (asked, options, signal) => {
  const { store, clock } = options
  const began = clock.elapsed()
  const selection = selectionOf(asked, options)
  const nothing = (last: number | null): Answered => {
    const milliseconds = clock.elapsed() - began
    return { body: encodeNothing({ next: asked.from, last, milliseconds, guard: null }), logs: 0 }
  }
  if (selection.to < selection.from) return nothing((await store.range())?.last ?? null)
  let found: Found
  try {
    found = await read(selection, options, signal)
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'empty') return nothing(null)
    throw error
  }
  const { blocks, guard } = await headsOf(asked, found, store)
  const milliseconds = clock.elapsed() - began
  const { fields, blockFields } = asked
  return {
    body: encodeHosted({ found, fields, blocks, blockFields, guard, milliseconds }),
    logs: fields.length === 0 ? 0 : found.count,
  }
}

const selectionOf = (asked: Asked, { limits }: AnswerOptions): Selection => {
  const { from, filters, fields, maxLogs } = asked
  const most = asked.blocks === 'all' ? from + MOST_BLOCKS - 1 : Number.MAX_SAFE_INTEGER
  return {
    from,
    to: Math.min(asked.to ?? Number.MAX_SAFE_INTEGER, most),
    filters,
    fields,
    maxLogs: Math.max(1, Math.min(limits.pageLogs, maxLogs ?? limits.pageLogs)),
    maxBytes: Math.floor(limits.pageBytes * shareOfValues(fields)),
    maxMs: limits.pageMs,
  }
}

/** What a store must never bring is no answer: a page that covers nothing, or a row from somewhere else. */
const read = async (
  selection: Selection,
  { store }: AnswerOptions,
  signal: AbortSignal,
): Promise<Found> => {
  const { from, to, filters } = selection
  const found = await (filters.length === 0
    ? readNothing(selection, store)
    : store.read(selection, signal))
  const last = Math.min(to, found.range.last)
  const isCovered = from > last ? found.next === from : found.next > from && found.next <= last + 1
  const { blocks } = found
  const isInside = blocks.every(
    (block, row) => block >= Math.max(from, blocks[row - 1] ?? from) && block < found.next,
  )
  if (isCovered && isInside && blocks.length === found.count) return found
  throw new Error(`the store answered blocks ${from} to ${to} with a page up to ${found.next}`)
}

/** No filter selects no log: all blocks are covered, as if none had a log that matches. */
const readNothing = async ({ from, to, fields }: Selection, store: LogStore): Promise<Found> => {
  const range = await store.range()
  if (range === null) {
    throw new StoreError('empty', { doing: 'read logs', happened: 'the store holds no block yet' })
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

/** The blocks that are to be told of, and those at both ends of the page. */
const headsOf = async (asked: Asked, found: Found, store: LogStore) => {
  const { from } = asked
  const last = found.next - 1
  if (last < from) return { blocks: [], guard: null }
  const told = asked.blockFields.length === 0 ? [] : numbersOf(asked, found)
  const numbers = [...new Set([from, ...told, last])]
  const heads = new Map((await store.heads(numbers)).map((head) => [head.number, head]))
  const first = heads.get(from)
  const end = heads.get(last)
  if (heads.size < numbers.length || !first || !end) throw await gone(from, store)
  const blocks = told.flatMap((number): readonly BlockHead[] => {
    const head = heads.get(number)
    return head ? [head] : []
  })
  return { blocks, guard: { first, last: end } }
}

const numbersOf = ({ blocks, from }: Asked, found: Found): readonly number[] =>
  blocks === 'all'
    ? Array.from({ length: found.next - from }, (_, index) => from + index)
    : [...new Set(found.blocks)]

/** Between the two reads the oldest blocks may have been given up. */
const gone = async (from: number, store: LogStore): Promise<Error> => {
  const first = (await store.range())?.first ?? null
  return first === null || first <= from
    ? new Error(`the store has logs from block ${from} on and not its blocks`)
    : pruned(from, first)
}

const pruned = (from: number, first: number): StoreError =>
  new StoreError(
    'pruned',
    { doing: `read blocks from ${from} on`, happened: `the first block is ${first}` },
    first,
  )
