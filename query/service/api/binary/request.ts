import { HttpError } from '../http-error.ts'
import { type List, type Struct, unpackMessage } from './message-reader.ts'

/** What a client asks for: a query as in JSON, or the answer to one that it sent before. */
export type BinaryRequest = Readonly<Record<string, unknown>> | 'by id'

interface RequestLimits {
  /** After unpacking. */
  readonly bytes: number
  /** Elements of lists. */
  readonly values: number
}

/** Reads `Request { union { query :QueryBody; queryId :Data }; blockRange }`. Throws an HttpError. */
export const readBinaryRequest = (body: Buffer, limits: RequestLimits): BinaryRequest => {
  const request = unpackMessage(body, limits)
  if (request === null) throw new HttpError('bad_value', 'expected a request, got nothing')
  const member = request.uint16(0)
  if (member === BY_ID) return 'by id'
  if (member !== 0) throw new HttpError('bad_value', 'expected a query or its id')
  const range = request.struct(0)
  const query = request.struct(1)
  if (range === null || query === null) throw new HttpError('bad_value', 'expected a range of blocks and a query')
  const selected = query.struct(4)
  const names = (kind: Kind, pointer: number) => namesOf(kind, selected?.list(pointer) ?? null)
  return {
    from_block: range.uint64(0),
    to_block: range.struct(0)?.uint64(0) ?? null,
    logs: structsOf(query.list(0)).map(selectionOf),
    transactions: structsOf(query.list(1)).map(() => ({})),
    traces: structsOf(query.list(2)).map(() => ({})),
    blocks: structsOf(query.list(3)).map(() => ({})),
    field_selection: {
      block: names('block', 0),
      transaction: names('transaction', 1),
      log: names('log', 2),
      trace: names('trace', 3),
    },
    join_mode: JOIN_MODES[query.uint16(0)] ?? 'unknown',
    include_all_blocks: (query.uint16(1) & 1) === 1,
    ...Object.fromEntries(MAXIMA.map((name, index) => [name, query.struct(5 + index)?.uint64(0) ?? null])),
  }
}

/** The member of the union. */
const BY_ID = 1

const JOIN_MODES = ['Default', 'JoinAll', 'JoinNothing']
const MAXIMA = ['max_num_blocks', 'max_num_transactions', 'max_num_logs', 'max_num_traces']

/** The fields by their number: all of a log, and of blocks and transactions those that this service has. */
const FIELDS: Readonly<Record<Kind, Readonly<Record<number, string>>>> = {
  log: Object.fromEntries(
    [
      'transaction_hash',
      'block_hash',
      'block_number',
      'transaction_index',
      'log_index',
      'address',
      'data',
      'removed',
      'topic0',
      'topic1',
      'topic2',
      'topic3',
    ].entries(),
  ),
  block: { 0: 'number', 1: 'hash', 2: 'parent_hash', 13: 'timestamp' },
  transaction: { 0: 'block_hash', 1: 'block_number', 3: 'hash', 6: 'transaction_index' },
  trace: {},
}

type Kind = 'block' | 'transaction' | 'log' | 'trace'

const namesOf = (kind: Kind, list: List | null): readonly string[] =>
  (list?.uint16s() ?? []).map((number) => FIELDS[kind][number] ?? `${kind} field ${number}`)

const structsOf = (list: List | null): readonly Struct[] => list?.structs() ?? []

/** `Selection { include, exclude :LogFilter }` */
const selectionOf = (selection: Struct) => ({
  include: filterOf(selection.struct(0)),
  exclude: selection.struct(1) === null ? null : {},
})

/** `LogFilter { address :List(Data); addressFilter :Data; topics :List(List(Data)) }` */
const filterOf = (filter: Struct | null) => ({
  address: filter?.list(0)?.texts() ?? [],
  address_filter: (filter?.list(1)?.length ?? 0) === 0 ? null : true,
  topics: (filter?.list(2)?.lists() ?? []).map((topic) => topic?.texts() ?? []),
})
