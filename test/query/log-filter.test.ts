import fc from 'fast-check'
import { expect, it } from 'vitest'
import { filterFieldsOf } from '../../query/commands/query/rows.ts'
import { createLogFilter } from '../../query/log-fields.ts'
import { matches } from '../support/query-chain.ts'

const VALUES = ['0xaa', '0xbb', '0xCC']
const value = fc.constantFrom(...VALUES)
const lower = value.map((text) => text.toLowerCase())

it('selects the same logs as the naive filter', () => {
  const criteria = fc.record({ addresses: fc.array(lower), topics: fc.array(fc.array(lower), { maxLength: 4 }) })
  const topics = fc.tuple(value, ...Array.from({ length: 3 }, () => fc.option(value)))
  fc.assert(
    fc.property(criteria, fc.record({ address: value, topics }), ({ addresses, topics: asked }, log) => {
      const served = { ...log, block: 1, index: 0, data: '0x' }
      expect(createLogFilter({ addresses, topics: asked })(log)).toBe(
        matches({ address: addresses, topics: asked }, served),
      )
    }),
  )
})

it('does not compare an address that the response does not have; a topic that a log does not have is another one', () => {
  const topics = [null, null, null, null]
  expect(createLogFilter({ addresses: ['0xaa'], topics: [] })({ address: null, topics })).toBe(true)
  expect(createLogFilter({ addresses: [], topics: [[], ['0xaa']] })({ address: null, topics })).toBe(false)
})

it('needs the fields of its criteria', () => {
  expect(filterFieldsOf({ addresses: [], topics: [] })).toEqual([])
  expect(filterFieldsOf({ addresses: ['0xaa'], topics: [[], ['0xaa'], [], ['0xbb']] })).toEqual([
    'address',
    'topic1',
    'topic3',
  ])
})
