import { describe, expect } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { createQueryClient } from '../../../query/client/client.ts'
import { createEndpoint } from '../../../query/client/transport.ts'
import { createErrorFactory } from '../../../query/client/errors.ts'
import { readPage } from '../../../query/client/page.ts'
import { LOG_FIELDS } from '../../../query/log-fields.ts'
import { keeps, servedStore } from '../../support/memory-store.ts'
import { ask, it as apiTest } from './fixtures.ts'
import { keepPages } from '../client-fixtures.ts'
import { diceOf, oneOf, randomChain, randomFilter } from '../../support/store-cases.ts'

const KEY = 'a-key-of-this-test'

/** The query and the logs that the client must return. */
const randomRun = (seed: number) => {
  const dice = diceOf(seed)
  const first = dice(20)
  const chain = randomChain({ seed: seed + 1, from: first, blocks: 20 + dice(400), logs: 5 })
  const last = chain.at(-1)?.number ?? 0
  const from = first + dice(chain.length)
  const to = oneOf(dice, [null, from, from + dice(100), last, last + 3])
  const filter = randomFilter(dice)
  const end = Math.min(last, to ?? last)
  const expected = chain
    .filter(({ number }) => number >= from && number <= end)
    .flatMap((block) =>
      block.logs
        .filter((log) => keeps(filter, log))
        .map((log) => ({
          blockNumber: block.number,
          logIndex: log.logIndex,
          address: log.address,
          topics: [0, 1, 2, 3].map((position) => log.topics[position] ?? null),
          data: log.data,
          removed: false,
        })),
    )
  const limits = {
    pageLogs: oneOf(dice, [1, 7, 40, 20_000]),
    pageBytes: oneOf(dice, [500, 20_000, 4_000_000]),
  }
  return { chain, last, from, to, end, filter, expected, limits }
}

const it = apiTest.extend('served', {})

describe.each(['spec', 'hosted'] as const)('the client with the %s dialect', (dialect) => {
  it('receives every log once and in order, for any chain, filter and page size', async ({ serve }) => {
    for (let seed = 0; seed < 30; seed += 1) {
      const run = randomRun(1000 + 2 * seed)
      const store = servedStore()
      await store.append(run.chain)
      const { limits, last, from, to, end, filter } = run
      const api = await serve({
        store,
        dialect,
        limits,
        height: () => last,
        keys: [new Secret(KEY)],
      })
      const client = createQueryClient({ url: api.url, apiKey: KEY, clock: systemClock })
      const { sink, pages, logs } = keepPages()
      const query = { ...filter, fields: LOG_FIELDS, fromBlock: from, toBlock: to }
      const { signal } = new AbortController()
      expect(await client.height(signal)).toBe(last)
      const result = await client.run(query, sink, { signal })
      expect([seed, logs()]).toEqual([seed, run.expected])
      expect(result).toMatchObject({ complete: true, from, through: end, target: end })
      // Only the hosted dialect has hashes, with which the client checks that pages are linked.
      if (dialect === 'hosted') expect(result.stats.unguarded).toBe(0)
      expect(result.stats).toMatchObject({ retries: 0, reorgs: 0 })
      expect(pages.at(-1)?.next).toBe(end + 1)
      expect(api.complaints).toEqual([])
    }
  })

  it('uses the fast path: a page is read without being parsed', async ({ serve }) => {
    const chain = randomChain({ seed: 5, from: 1, blocks: 30 })
    const api = await serve({ dialect, blocks: chain })
    const got = await ask(api, {
      from_block: 1,
      to_block: 30,
      logs: [{}],
      field_selection: { log: ['log_index', 'block_number', 'data'] },
    })
    const total = got.text.split('"log_index"').length - 1
    const queryError = createErrorFactory('read', createEndpoint({ url: api.url, apiKey: KEY }))
    const scanned = (end: number) => readPage(Buffer.from(got.text), { from: 1, end }, queryError).scanned?.count
    // to_block is inclusive in one of the dialects.
    const last = dialect === 'spec' ? 30 : 29
    expect(scanned(last)).toBe(total)
    // The client leaves out the logs of the block after the last one.
    expect(scanned(last - 1)).toBe(total - (chain[last - 1]?.logs.length ?? 0))
  })
})
