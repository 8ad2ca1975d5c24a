import { describe, expect } from 'vitest'
import { servedStore } from '../../support/memory-store.ts'
import { A_LOG, ask, errorOf, it as apiTest, plainChain, type ServeApi, storeWith } from './fixtures.ts'

// What pages contain: fuzz.test.ts.

/** Blocks 8 to 60; a log in 12. */
const CHAIN = plainChain(8, 60, { 12: [A_LOG] })
const TOKEN = A_LOG.address

const it = apiTest.extend('served', { blocks: CHAIN }).extend(
  'hosted',
  ({ serve }) =>
    async (body: unknown, options: Parameters<ServeApi>[0] = {}) =>
      ask(await serve({ dialect: 'hosted', ...options }), body),
)

it('a query without filters is unavailable while the store is empty, as with a filter', async ({ serve }) => {
  const body = { from_block: 10, logs: [], field_selection: { log: ['log_index'] } }
  const got = await ask(await serve({ blocks: [] }), body)
  expect([got.status, errorOf(got).code]).toEqual([503, 'empty'])
})

it('the spec dialect supports any block number', async ({ serve }) => {
  const from = 2 ** 52
  const logs = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [from + index, [{ ...A_LOG, data: '0x' }]]),
  )
  const { port } = await serve({ blocks: plainChain(from, from + 999, logs) })
  const asked = { from_block: from, logs: [{}], field_selection: { log: ['data'] } }
  const entries = Array.from({ length: 1000 }, (_, index) => `{"logs":[{"data":"0x"}],"block":${from + index}}`)
  expect((await ask({ port }, asked)).text).toBe(`{"data":[${entries.join(',')}],"archive_height":${from + 999}}`)
})

describe('the hosted dialect', () => {
  it('an empty store: the height is null and no block is covered', async ({ hosted }) => {
    const { text } = await hosted({ from_block: 3, logs: [{}] }, { blocks: [] })
    expect(JSON.parse(text)).toMatchObject({ data: [], archive_height: null, next_block: 3, rollback_guard: null })
  })

  it('every block is returned if requested, also without a join', async ({ hosted }) => {
    const every = { include_all_blocks: true, join_mode: 'JoinNothing', field_selection: { block: ['number'] } }
    const { text } = await hosted({ from_block: 10, to_block: 13, logs: [{}], ...every })
    expect(text).toContain('{"data":[{"blocks":[{"number":10},{"number":11},{"number":12}],')
  })

  it.for<[string, string, object]>([
    ['transactions[0]', 'not_served', { transactions: [{ from: [TOKEN] }] }],
    ['traces[0]', 'not_served', { traces: [{}] }],
    ['blocks[0]', 'not_served', { blocks: [{}] }],
    ['field_selection.transaction[1]', 'not_served', { field_selection: { transaction: ['hash', 'from'] } }],
    ['field_selection.trace[0]', 'not_served', { field_selection: { trace: ['type'] } }],
    ['field_selection.block[1]', 'not_served', { field_selection: { block: ['number', 'miner'] } }],
    ['logs[0].exclude', 'not_served', { logs: [{ include: {}, exclude: { address: [TOKEN] } }] }],
    ['logs[0].address', 'unknown_field', { logs: [{ include: {}, address: [TOKEN] }] }],
    ['logs[0].exclude', 'not_served', { logs: [{ address: [TOKEN], exclude: { topics: [] } }] }],
    ['logs[0].address_filter', 'not_served', { logs: [{ address_filter: '0x00' }] }],
    ['logs[0].include', 'bad_value', { logs: [{ include: 1 }] }],
    ['join_mode', 'not_served', { join_mode: 'JoinAll' }],
    ['join_mode', 'bad_value', { join_mode: 'joinNothing' }],
    ['include_all_blocks', 'bad_value', { include_all_blocks: 1 }],
    ['max_num_logs', 'bad_value', { max_num_logs: '5' }],
    ['max_logs', 'unknown_field', { max_logs: 5 }],
  ])('%s is rejected by name: %s', async ([path, code, more], { hosted }) => {
    const got = await hosted({ from_block: 10, logs: [{}], ...more })
    expect([got.status, errorOf(got).code, errorOf(got).path]).toEqual([400, code, path])
  })

  it('blocks that are pruned during a read are reported as pruned', async ({ hosted }) => {
    const store = servedStore()
    await store.append(CHAIN)
    const pruning = storeWith(
      {
        heads: async (numbers) => {
          await store.prune(20)
          return store.heads(numbers)
        },
      },
      store,
    )
    const got = await hosted({ from_block: 10, logs: [{}] }, { store: pruning, blocks: [] })
    expect([got.status, errorOf(got)]).toEqual([
      410,
      {
        code: 'pruned',
        message: 'blocks before 20 are not in the store',
        path: 'from_block',
        first_block: 20,
      },
    ])
  })
})
