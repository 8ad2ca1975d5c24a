import { describe, expect } from 'vitest'
import { createEndpoint } from '../../../query/client/transport.ts'
import { createErrorFactory } from '../../../query/client/errors.ts'
import { readPage } from '../../../query/client/page.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { keeps } from '../../support/memory-store.ts'
import { randomChain, word } from '../../support/store-cases.ts'
import { fetchAll, positionsOf } from '../client-fixtures.ts'
import { ask, it } from './fixtures.ts'

describe.each(['spec', 'hosted'] as const)('the client with the %s dialect', (dialect) => {
  it('receives every log once and in order, over many pages', async ({ serve }) => {
    const chain = randomChain({ seed: 1000, from: 0, blocks: 400 })
    const query = { addresses: [], topics: [[word(1), word(2)]] }
    const key = 'a-key-of-this-test'
    const api = await serve({ dialect, blocks: chain, limits: { pageLogs: 7 }, keys: [new Secret(key)] })
    const { result, logs, error } = await fetchAll(api.url, { client: { apiKey: key }, query })
    expect(error).toBeUndefined()
    const expected = chain.flatMap((block) =>
      block.logs.filter((log) => keeps(query, log)).map((log) => `${block.number}/${log.logIndex} ${log.data}`),
    )
    expect(expected.length).toBeGreaterThan(100)
    expect(positionsOf(logs())).toEqual(expected)
    expect(result).toMatchObject({ complete: true, through: 399, target: 399, stats: { retries: 0, reorgs: 0 } })
    // Only the hosted dialect has hashes, with which the client checks that pages are linked.
    expect(result?.stats.unguarded === 0).toBe(dialect === 'hosted')
    expect(api.complaints).toEqual([])
  })

  it('uses the fast path: a page is read without being parsed', async ({ serve }) => {
    const chain = randomChain({ seed: 5, from: 1, blocks: 30 })
    const api = await serve({ dialect, blocks: chain })
    const body = { from_block: 1, to_block: 30, logs: [{}] }
    const got = await ask(api, { ...body, field_selection: { log: ['log_index', 'block_number', 'data'] } })
    const total = got.text.split('"log_index"').length - 1
    const queryError = createErrorFactory('read', createEndpoint({ url: api.url, apiKey: null }))
    const scanned = (end: number) => readPage(Buffer.from(got.text), { from: 1, end }, queryError).scanned?.count
    // to_block is inclusive in one of the dialects.
    const last = dialect === 'spec' ? 30 : 29
    expect(scanned(last)).toBe(total)
    // The client leaves out the logs of the block after the last one.
    expect(scanned(last - 1)).toBe(total - (chain[last - 1]?.logs.length ?? 0))
  })
})
