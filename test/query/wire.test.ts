import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ConfigError } from '../../src/core/errors.ts'
import { type LogQuery } from '../../src/query/client/types.ts'
import { createWire } from '../../src/query/client/wire.ts'

const [A, B] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
const T = `0x${'11'.repeat(32)}`
const QUERY: LogQuery = {
  addresses: [A],
  topics: [[T]],
  fields: ['data'],
  fromBlock: 5,
  toBlock: 9,
}
const ANY = z.record(z.string(), z.unknown())
const wired = (query: Partial<LogQuery>) =>
  ANY.parse(JSON.parse(createWire({ ...QUERY, ...query })(5, 9)))

describe('what is sent', () => {
  it('one past the end, the filter, and no more fields than are needed', () => {
    expect(wired({})).toEqual({
      from_block: 5,
      to_block: 10,
      logs: [{ address: [A], topics: [[T]] }],
      field_selection: { log: ['log_index', 'block_number', 'data'] },
    })
  })
  it('the address of each log where it is not one contract alone', () => {
    const log = ['log_index', 'block_number', 'address', 'data']
    expect(wired({ addresses: [A, B] })['field_selection']).toEqual({ log })
    expect(wired({ addresses: [] })['field_selection']).toEqual({ log })
    expect(wired({ fields: ['data', 'data', 'address'] })['field_selection']).toEqual({ log })
  })
  it('no filter where there is none, and none after the last position that has one', () => {
    expect(wired({ addresses: [], topics: [] })['logs']).toEqual([{}])
    expect(wired({ topics: [[], [], []] })['logs']).toEqual([{ address: [A] }])
    expect(wired({ topics: [[], [T, T], []] })['logs']).toEqual([
      { address: [A], topics: [[], [T, T]] },
    ])
  })
  it.each<[string, Partial<LogQuery>]>([
    ['it ends before it begins', { toBlock: 4 }],
    ['a block is no whole number', { fromBlock: -1 }],
    ['a block is no whole number', { fromBlock: 0.5 }],
    ['a block is no whole number', { toBlock: 2 ** 53 }],
    ['four topics at most', { topics: [[], [], [], [], [T]] }],
  ])('refuses a query: %s', (why, query) => {
    expect(() => createWire({ ...QUERY, ...query })).toThrow(ConfigError)
    expect(() => createWire({ ...QUERY, ...query })).toThrow(why)
  })
})
