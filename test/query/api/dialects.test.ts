import { describe, expect } from 'vitest'
import type { Block, StoredLog } from '../../../query/store/store.ts'
import { servedStore } from '../../support/memory-store.ts'
import { ask, errorOf, hashOf, it as apiTest, plainChain, type ServeApi, storeWith } from './fixtures.ts'

const TOKEN = `0x${'da'.repeat(20)}`
const OTHER = `0x${'0e'.repeat(20)}`
const TRANSFER = `0x${'dd'.repeat(32)}`
const ALICE = `0x${'0a'.repeat(32)}`
const BOB = `0x${'0b'.repeat(32)}`

const log = (logIndex: number, more: Partial<StoredLog> = {}): StoredLog => ({
  logIndex,
  transactionIndex: 2,
  transactionHash: `0x${'7a'.repeat(32)}`,
  address: TOKEN,
  topics: [TRANSFER, ALICE, BOB],
  data: '0x01',
  ...more,
})

/** Blocks 8 to 60; logs in 12, 13 and 40. */
const CHAIN: readonly Block[] = plainChain(8, 60, {
  12: [log(3), log(5, { address: OTHER }), log(6, { topics: [TRANSFER, BOB, ALICE], data: '0x' })],
  13: [log(0, { topics: [] })],
  40: [log(1, { data: '0xff' })],
})

const it = apiTest
  .extend('served', { blocks: CHAIN })
  .extend('hosted', ({ serve }) => async (body: unknown, options: Parameters<ServeApi>[0] = {}) => {
    const got = await ask(await serve({ dialect: 'hosted', ...options }), body)
    return {
      ...got,
      text: got.text.replace(/"total_execution_time":\d+/, '"total_execution_time":0'),
    }
  })

describe('a query without filters', () => {
  const page = (more: object) => ({ from_block: 10, logs: [], ...more })

  it('matches no log and covers the blocks: spec', async ({ serve }) => {
    const served = await serve()
    const fields = { field_selection: { log: ['log_index'] } }
    const got = await ask(served, page(fields))
    expect([got.status, got.text]).toEqual([200, '{"data":[],"archive_height":60}'])
    expect((await ask(served, page({ ...fields, from_block: 100 }))).text).toBe('{"data":[],"archive_height":60}')
    const gone = await ask(served, page({ ...fields, from_block: 7 }))
    expect([gone.status, errorOf(gone).code]).toEqual([410, 'pruned'])
  })
  it('matches no log and covers the blocks: hosted, with all blocks if requested', async ({ serve }) => {
    const served = await serve({ dialect: 'hosted' })
    const ends = async (more: object) => {
      const { text } = await ask(served, page(more))
      return [/"next_block":(\d+)/.exec(text)?.[1], text.match(/"number":\d+/g) ?? []]
    }
    expect(await ends({})).toEqual(['61', []])
    expect(await ends({ to_block: 20 })).toEqual(['20', []])
    const blocks = { include_all_blocks: true, field_selection: { block: ['number'] } }
    expect(await ends({ to_block: 13, ...blocks })).toEqual(['13', ['"number":10', '"number":11', '"number":12']])
  })
  it('is unavailable while the store is empty, as with a filter', async ({ serve }) => {
    const body = page({ field_selection: { log: ['log_index'] } })
    const got = await ask(await serve({ blocks: [] }), body)
    expect([got.status, errorOf(got).code]).toEqual([503, 'empty'])
  })
})

describe('the spec dialect', () => {
  it('returns an entry for each block with logs, with the selected fields only', async ({ serve }) => {
    const got = await ask(await serve(), {
      from_block: 10,
      to_block: 40,
      logs: [{ address: [TOKEN.toUpperCase().replace('X', 'x')], topics: [[TRANSFER]] }],
      field_selection: { log: ['topic2', 'data', 'log_index'] },
    })
    expect(got.text).toBe(
      `{"data":[` +
        `{"logs":[{"log_index":3,"data":"0x01","topic2":"${BOB}"},{"log_index":6,"data":"0x","topic2":"${ALICE}"}],"block":12},` +
        `{"logs":[{"log_index":1,"data":"0xff","topic2":"${BOB}"}],"block":40}` +
        `],"archive_height":60}`,
    )
  })

  it('supports any block number', async ({ serve }) => {
    const from = 2 ** 52
    const logs = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [from + index, [log(0, { data: '0x' })]]),
    )
    const { port } = await serve({ blocks: plainChain(from, from + 999, logs) })
    const asked = { from_block: from, logs: [{}], field_selection: { log: ['data'] } }
    const entries = Array.from({ length: 1000 }, (_, index) => `{"logs":[{"data":"0x"}],"block":${from + index}}`)
    expect((await ask({ port }, asked)).text).toBe(`{"data":[${entries.join(',')}],"archive_height":${from + 999}}`)
  })

  it('to_block is inclusive; next_block is present until the last page', async ({ serve }) => {
    const { port } = await serve({ limits: { pageLogs: 1 } })
    const nextOf = async (from: number, to?: number) => {
      const body = {
        from_block: from,
        to_block: to,
        logs: [{}],
        field_selection: { log: ['data'] },
      }
      const answer: unknown = JSON.parse((await ask({ port }, body)).text)
      return answer
    }
    expect(await nextOf(8, 40)).toMatchObject({
      next_block: 13,
      data: [{ logs: [{}, {}, {}], block: 12 }],
    })
    expect(await nextOf(13, 40)).toMatchObject({ next_block: 14 })
    const last = await nextOf(14, 40)
    expect(last).toMatchObject({ data: [{ block: 40 }] })
    expect(last).not.toHaveProperty('next_block')
    // The block that reached the limit is before the last requested one.
    expect(await nextOf(14, 41)).toMatchObject({ data: [{ block: 40 }], next_block: 41 })
    expect(await nextOf(14)).toMatchObject({ next_block: 41 })
    expect(await nextOf(41)).toEqual({ data: [], archive_height: 60 })
  })
})

/** As the official client 1.3.0 sends it, word for word but for the values. */
const OFFICIAL = `{"from_block":10,"to_block":50,"logs":[{"address":["${TOKEN}"],"topics":[["${TRANSFER}"],[],["${BOB}"]]}],"field_selection":{"block":["number","timestamp"],"log":["data","topic0"]},"max_num_logs":5,"join_mode":"JoinNothing"}`

const GUARD = `"rollback_guard":{"block_number":49,"timestamp":1700000049,"hash":"${hashOf(49)}","first_block_number":10,"first_parent_hash":"${hashOf(9)}"}`

describe('the hosted dialect', () => {
  it('serves the official client: to_block exclusive, next_block always, batches, a guard', async ({ hosted }) => {
    expect((await hosted(OFFICIAL)).text).toBe(
      `{"data":[{"blocks":[],"transactions":[],"logs":[{"data":"0x01","topic0":"${TRANSFER}"},{"data":"0xff","topic0":"${TRANSFER}"}],"traces":[]}],` +
        `"archive_height":60,"next_block":50,"total_execution_time":0,${GUARD}}`,
    )
  })

  it('blocks are returned with their logs unless the join mode is JoinNothing', async ({ hosted }) => {
    const body = OFFICIAL.replace('JoinNothing', 'Default').replace('"timestamp"', '"timestamp","hash","parent_hash"')
    const blocks = [12, 40].map(
      (number) =>
        `{"number":${number},"hash":"${hashOf(number)}","parent_hash":"${hashOf(number - 1)}","timestamp":"0x${(1_700_000_000 + number).toString(16)}"}`,
    )
    expect((await hosted(body)).text).toContain(
      `{"data":[{"blocks":[${blocks.join(',')}],"transactions":[],"logs":[{"data"`,
    )
  })

  it('a limit of logs ends the page after the block that reaches it', async ({ hosted }) => {
    const got = await hosted(OFFICIAL.replace('"max_num_logs":5', '"max_num_logs":1'))
    expect(got.text).toContain('"logs":[{"data":"0x01",')
    expect(got.text).toContain('"next_block":13,')
    expect(got.text).toContain(`"block_number":12,"timestamp":1700000012,"hash":"${hashOf(12)}"`)
  })

  it('a limit of blocks ends the page, also without a log', async ({ hosted }) => {
    const body = { from_block: 10, to_block: 14, logs: [{}], max_num_blocks: 2, field_selection: { log: ['data'] } }
    expect((await hosted(body)).text).toContain('{"data":[],"archive_height":60,"next_block":12,')
  })

  it.for<[string, { from_block: number; to_block?: number }, number, number]>([
    ['nothing: to_block is from_block', { from_block: 20, to_block: 20 }, 60, 20],
    ['nothing: the range is backwards', { from_block: 20, to_block: 10 }, 60, 20],
    ['beyond what is held', { from_block: 61 }, 60, 61],
    ['far beyond', { from_block: 100, to_block: 200 }, 60, 100],
    ['the end of what is held', { from_block: 60 }, 60, 61],
  ])('%s', async ([, range, archive, next], { hosted }) => {
    const got = await hosted({ logs: [{}], ...range })
    expect(JSON.parse(got.text)).toMatchObject({
      data: [],
      archive_height: archive,
      next_block: next,
    })
    expect(got.text.includes('"rollback_guard":null')).toBe(next !== 61 || range.from_block === 61)
  })

  it('an empty store: the height is null and no block is covered', async ({ hosted }) => {
    const body = { from_block: 3, logs: [{}] }
    const got = await hosted(body, { blocks: [] })
    expect(got.text).toBe(
      '{"data":[],"archive_height":null,"next_block":3,"total_execution_time":0,"rollback_guard":null}',
    )
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
    const got = await hosted(OFFICIAL, { store: pruning, blocks: [] })
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
