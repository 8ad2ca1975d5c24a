import { describe, expect } from 'vitest'
import { LOG_FIELDS } from '../../../query/log-fields.ts'
import { QUERY_LIMITS } from '../../../query/service/api/limits.ts'
import type { Block, Selection } from '../../../query/store/store.ts'
import { servedStore } from '../../support/memory-store.ts'
import { ask, codeOf, it as apiTest, plainChain, storeWith } from './fixtures.ts'

const word = (byte: string): string => `0x${byte.repeat(32)}`

/** Blocks 1 to `blocks` with ten logs each. */
const chainOf = (blocks: number): readonly Block[] => {
  const logs = Array.from({ length: 10 }, (_, logIndex) => ({
    logIndex,
    transactionIndex: 1,
    transactionHash: word('7a'),
    address: `0x${'da'.repeat(20)}`,
    topics: [word('01'), word('02'), word('03')],
    data: word('04'),
  }))
  return plainChain(1, blocks, Object.fromEntries(Array.from({ length: blocks }, (_, index) => [index + 1, logs])))
}

const it = apiTest.extend('served', {})

describe('a page', () => {
  it.for([
    ['many fields', LOG_FIELDS],
    ['what balances need', ['log_index', 'block_number', 'data', 'topic1', 'topic2']],
    ['more keys than values', ['removed', 'log_index', 'transaction_index']],
  ])('ends near the size limit: %s', async ([, fields], { serve }) => {
    const api = await serve({ blocks: chainOf(200), limits: { pageBytes: 60_000 } })
    const body = { from_block: 1, logs: [{}], field_selection: { log: fields } }
    const { text } = await ask(api, body)
    expect(text).toContain('"next_block":')
    expect(text.length / 60_000).toBeGreaterThan(0.7)
    expect(text.length / 60_000).toBeLessThan(1.5)
  })

  it('is read with the limits of the service or lower ones of the client', async ({ serve }) => {
    const asked: Selection[] = []
    const store = servedStore()
    await store.append(chainOf(3))
    const spy = storeWith(
      {
        read: async (selection, signal) => {
          asked.push(selection)
          return store.read(selection, signal)
        },
      },
      store,
    )
    const api = await serve({ store: spy, dialect: 'hosted' })
    for (const max of [undefined, 0, 7, 1e9]) await ask(api, { from_block: 2, logs: [{}], max_num_logs: max })
    expect(asked.map(({ maxLogs }) => maxLogs)).toEqual([20_000, 1, 7, 20_000])
    expect(asked[0]).toMatchObject({ from: 2, to: 2 ** 53 - 1, maxMs: QUERY_LIMITS.pageMs })
    await ask(api, { from_block: 2, logs: [{}], include_all_blocks: true })
    expect(asked.at(-1)).toMatchObject({ from: 2, to: 5001 })
  })

  it('fails if the store leaves out a requested block', async ({ serve }) => {
    const store = servedStore()
    await store.append(chainOf(5))
    const heads: typeof store.heads = async (numbers) =>
      (await store.heads(numbers)).filter(({ number }) => number !== 3)
    const api = await serve({ store: storeWith({ heads }, store), dialect: 'hosted' })
    const got = await ask(api, {
      from_block: 1,
      to_block: 6,
      logs: [{}],
      field_selection: { block: ['number'] },
    })
    expect([got.status, codeOf(got)]).toEqual([500, 'internal'])
    expect(api.complaints).toHaveLength(1)
  })
})
