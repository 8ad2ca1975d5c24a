import { describe, expect, it } from 'vitest'
import { readBinaryRequest } from '../../../query/service/api/binary/request.ts'
import { contract, word } from '../../support/store-cases.ts'
import { FULL, included, layOut, messageOf, NO_ZEROS, type Part, request, struct, structs } from './binary-message.ts'

const LIMITS = { bytes: 2 ** 20, values: 80_000 }

const read = (part: Part, layout?: Parameters<typeof layOut>[1]) =>
  readBinaryRequest(messageOf(layOut(part, layout)), LIMITS)

const NO_FILTER = { address: [], address_filter: null, topics: [] }
const FIELDS_READ = { block: [], transaction: [], log: ['block_number', 'data'], trace: [] }
const NO_MAXIMA = { max_num_blocks: null, max_num_transactions: null, max_num_logs: null, max_num_traces: null }
const READ = {
  from_block: 10,
  to_block: 20,
  logs: [{ include: { ...NO_FILTER, address: [contract(1)] }, exclude: null }],
  transactions: [],
  traces: [],
  blocks: [],
  field_selection: FIELDS_READ,
  join_mode: 'Default',
  include_all_blocks: false,
  ...NO_MAXIMA,
}

const FULL_READ = {
  ...READ,
  join_mode: 'JoinNothing',
  include_all_blocks: true,
  logs: [
    {
      include: {
        address: [contract(1), contract(2)],
        address_filter: null,
        topics: [[word(7), word(2 ** 40)], [], [], [NO_ZEROS]],
      },
      exclude: null,
    },
    { include: { ...NO_FILTER, topics: [[word(8)]] }, exclude: null },
  ],
  field_selection: {
    block: ['number', 'hash', 'parent_hash', 'timestamp'],
    transaction: ['block_hash', 'block_number', 'hash', 'transaction_index'],
    log: [
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
    ],
    trace: [],
  },
  max_num_blocks: 4,
  max_num_transactions: 300,
  max_num_logs: 50_000,
  max_num_traces: 0,
}

describe('a packed request', () => {
  it('is read with every field', () => {
    expect(read(request())).toEqual(READ)
    expect(read(request(FULL))).toEqual(FULL_READ)
  })

  it('of several segments is read by single and double far pointers', () => {
    for (const far of ['single', 'double'] as const)
      for (const segments of [2, 3, 7]) expect(read(request(FULL), { segments, far })).toEqual(FULL_READ)
  })

  it('without optional parts, and of a client with shorter structs, has defaults', () => {
    const nothing = { ...READ, to_block: null, logs: [], field_selection: { ...FIELDS_READ, log: [] } }
    expect(read(request({ range: struct([10n], [null]), logs: null, fields: null }))).toEqual(nothing)
    expect(read(struct([], [struct([10n]), struct([])]))).toEqual(nothing)
    expect(read(request({ logs: structs(included(null)) }))).toEqual({
      ...READ,
      logs: [{ include: NO_FILTER, exclude: null }],
    })
    expect(read(request({ logs: structs() }))).toEqual({ ...READ, logs: [] })
  })
})
