import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ConfigError } from '../../src/core/errors.ts'
import { type LogQuery } from '../../query/client/types.ts'
import { createRequestBody } from '../../query/client/wire-format.ts'

const [A, B] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
const T = `0x${'11'.repeat(32)}`
const QUERY: LogQuery = { addresses: [A], topics: [[T]], fields: ['data'], fromBlock: 5, toBlock: 9 }
const ANY = z.record(z.string(), z.unknown())
const bodyOf = (query: Partial<LogQuery>) => ANY.parse(JSON.parse(createRequestBody({ ...QUERY, ...query })(5, 9)))

describe('the request body', () => {
  it('has one block past the end, the filter, and only the needed fields', () => {
    expect(bodyOf({})).toEqual({
      from_block: 5,
      to_block: 10,
      logs: [{ address: [A], topics: [[T]] }],
      field_selection: { log: ['log_index', 'block_number', 'data'] },
    })
  })
  it('selects the address unless the query is for one contract', () => {
    const log = ['log_index', 'block_number', 'address', 'data']
    expect(bodyOf({ addresses: [A, B] })['field_selection']).toEqual({ log })
    expect(bodyOf({ addresses: [] })['field_selection']).toEqual({ log })
    expect(bodyOf({ fields: ['data', 'data', 'address'] })['field_selection']).toEqual({ log })
  })
  it('omits empty filters and empty positions at the end', () => {
    expect(bodyOf({ addresses: [], topics: [] })['logs']).toEqual([{}])
    expect(bodyOf({ topics: [[], [], []] })['logs']).toEqual([{ address: [A] }])
    expect(bodyOf({ topics: [[], [T, T], []] })['logs']).toEqual([{ address: [A], topics: [[], [T, T]] }])
  })
  it.each([{ fromBlock: -1 }, { fromBlock: 0.5 }, { toBlock: 2 ** 53 }])('rejects a query with %o', (query) => {
    const error = new ConfigError('The query is invalid: a block number is not an integer from 0 on')
    expect(() => createRequestBody({ ...QUERY, ...query })).toThrow(error)
  })
})
