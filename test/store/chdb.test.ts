import { afterAll, beforeAll, expect, it } from 'vitest'
import { probeChdb, startChdb } from '../support/chdb.ts'
import { clickHousePlace } from '../support/clickhouse-place.ts'
import type { Answering } from '../support/clickhouse.ts'
import { memoryStore } from '../support/memory-store.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { diceOf, randomChain, randomFilter } from '../support/store-chain.ts'
import { columnsOf, IDENTITY, kindOf, never, WHOLE } from '../support/store-pages.ts'

const describeReal = await requireRealPart('ClickHouse of today', probeChdb)

/** Codecs, skip indexes, fsync, mutations, settings: the statements that are others than those of 18.16. */
describeReal('ClickHouse of today', () => {
  let server: Answering
  beforeAll(async () => {
    server = await startChdb()
  })
  afterAll(async () => server.stop())

  it('holds, finds, forgets and knows again', async () => {
    const place = await clickHousePlace(server)
    const store = await place.open(IDENTITY)
    const naive = memoryStore()
    const chain = randomChain({ seed: 12, from: 1000, blocks: 120 })
    const dice = diceOf(12)
    for (let at = 0; at < chain.length; at += 40) {
      await store.append(chain.slice(at, at + 40))
      await naive.append(chain.slice(at, at + 40))
    }
    for (const firstKept of [1000, 1035]) {
      await store.prune(firstKept)
      await naive.prune(firstKept)
      for (const open of [store, await place.open(IDENTITY)]) {
        const selection = {
          ...WHOLE,
          from: firstKept,
          filters: [randomFilter(dice), randomFilter(dice)],
        }
        expect(columnsOf(await open.read(selection, never()))).toEqual(
          columnsOf(await naive.read(selection, never())),
        )
        expect(await open.range()).toEqual(await naive.range())
        expect((await open.size()).logs).toBe((await naive.size()).logs)
      }
    }
    expect(await kindOf(store.read({ ...WHOLE, from: 1034 }, never()))).toBe('pruned')
    const database = place.url.replace(/^.*\/(\w+)\?.*$/, '$1')
    // Partitions of ten blocks: 1030 to 1039 is still in use.
    expect(await server.ask(`SELECT min(block) FROM ${database}.chain_logs_local`)).toMatch(
      /^103\d$/,
    )
    expect(await server.ask(`SHOW CREATE TABLE ${database}.chain_logs_local`)).toContain(
      'bloom_filter',
    )
  })
})
