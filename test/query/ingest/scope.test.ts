import { describe, expect, it } from 'vitest'
import { createScopeFilter } from '../../../query/service/ingest/completeness.ts'
import type { StoredLog } from '../../../query/store/store.ts'

const [A, B, TOPIC] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`, `0x${'11'.repeat(32)}`]

const log = (address: string, topics: readonly string[] = []): StoredLog => ({
  transactionHash: `0x${'22'.repeat(32)}`,
  transactionIndex: 0,
  logIndex: 0,
  address,
  topics,
  data: '0x',
})

describe('a scope', () => {
  it('without addresses and topics keeps all', () => {
    expect(createScopeFilter({ addresses: [], topics: [[], []] })).toBeNull()
  })

  it.each([
    ['one contract', [A], [true, false]],
    ['two contracts', [A.toUpperCase().replace('0X', '0x'), B], [true, true]],
    ['another contract', [`0x${'cc'.repeat(20)}`], [false, false]],
  ])('of %s keeps only its logs', (_, addresses, expected) => {
    const keeps = createScopeFilter({ addresses, topics: [] })
    expect([A, B].map((address) => keeps?.(log(address)))).toEqual(expected)
  })

  it('of a topic keeps logs that have it at its position', () => {
    const keeps = createScopeFilter({ addresses: [], topics: [[], [TOPIC]] })
    expect(keeps?.(log(A, [B, TOPIC]))).toBe(true)
    expect(keeps?.(log(A, [TOPIC]))).toBe(false)
    expect(keeps?.(log(A, []))).toBe(false)
  })
})
