import { contract, word } from '../../support/store-cases.ts'
import { bytes, list, type Part, struct, structs, uint16s } from './binary-message.ts'
import { askRaw } from './fixtures.ts'

export const NUMBER = (value: number | bigint): Part => struct([BigInt(value)])
/** Numbers of log fields: block_number and data. */
const SOME_FIELDS = struct([], [null, null, uint16s(2, 6), null])

export const filter = (addresses: Part, topics: Part = null, bloom: Part = null) =>
  struct([], [addresses, bloom, topics])
export const included = (one: Part, excluded: Part = null) => struct([], [one, excluded])

export interface Query {
  readonly range?: Part
  readonly flags?: bigint
  readonly logs?: Part
  readonly others?: readonly [transactions: Part, traces: Part, blocks: Part]
  readonly fields?: Part
  readonly maxima?: readonly [blocks: Part, transactions: Part, logs: Part, traces: Part]
}

export const request = ({
  range = struct([10n], [NUMBER(20)]),
  flags = 0n,
  logs = structs(included(filter(list(bytes(contract(1)))))),
  others = [null, null, null],
  fields = SOME_FIELDS,
  maxima = [null, null, null, null],
}: Query = {}): Part => struct([0n], [range, struct([flags], [logs, ...others, fields, ...maxima])])

/** A topic that is packed as a run of words. */
export const NO_ZEROS = `0x${'ab'.repeat(32)}`

/** With every field that is served. */
export const FULL: Query = {
  // JoinNothing, and every block.
  flags: 0x1_0002n,
  logs: structs(
    included(
      filter(
        list(bytes(contract(1)), bytes(contract(2))),
        list(list(bytes(word(7)), bytes(word(2 ** 40))), list(), null, list(bytes(NO_ZEROS))),
      ),
    ),
    included(filter(null, list(list(bytes(word(8)))))),
  ),
  fields: struct([], [uint16s(0, 1, 2, 13), uint16s(0, 1, 3, 6), uint16s(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), null]),
  maxima: [NUMBER(4), NUMBER(300), NUMBER(50_000), NUMBER(0)],
}

export const askPacked = (api: { readonly port: number }, body: Buffer) =>
  askRaw(api, { path: '/query/arrow-ipc/capnp', headers: { 'content-type': 'application/x-capnp' }, body })
