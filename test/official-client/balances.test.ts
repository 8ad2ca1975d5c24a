import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createQueryClient } from '../../query/client/client.ts'
import type { StoredLog } from '../../query/store/store.ts'
import { openDuckDbStore } from '../../query/store/duckdb/store.ts'
import { createLedger } from '../../query/tokens/ledger.ts'
import { topicsOf } from '../../query/tokens/signatures.ts'
import { systemClock } from '../../src/core/clock.ts'
import { plainChain } from '../query/api/fixtures.ts'
import { diceOf, IDENTITY } from '../support/store-cases.ts'
import { logsOf, queryOf } from './chain.ts'
import { describeClients, RECENT, startClient } from './clients.ts'
import { startApi } from './service.ts'

const TOKEN = `0x${'70'.repeat(20)}`
const [TRANSFER = ''] = topicsOf('erc20', null)
const BLOCKS = 400
const HOLDERS = 30

const wordOf = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`
/** The holder 0 is the zero address: from it tokens are minted, to it they are burned. */
const holder = (index: number): bigint => (index === 0 ? 0n : BigInt(index) << 100n)

/** Mints to all holders, then transfers of much less. */
const transfers = (): Readonly<Record<number, readonly StoredLog[]>> => {
  const dice = diceOf(20)
  const transfer = (logIndex: number, [from, to, amount]: readonly [number, number, bigint]): StoredLog => ({
    logIndex,
    transactionIndex: logIndex,
    transactionHash: wordOf(BigInt(logIndex)),
    address: TOKEN,
    topics: [TRANSFER, wordOf(holder(from)), wordOf(holder(to))],
    data: wordOf(amount),
  })
  const mints = Array.from({ length: HOLDERS }, (_, index) => transfer(index, [0, index + 1, 10n ** 30n]))
  const others = Array.from({ length: BLOCKS - 1 }, () =>
    Array.from({ length: dice(6) }, (_, index) =>
      transfer(index, [1 + dice(HOLDERS), dice(HOLDERS + 1), BigInt(dice(1_000_000)) * 10n ** 9n]),
    ),
  )
  return Object.fromEntries([mints, ...others].map((logs, index) => [index + 1, logs]))
}

describeClients.each(RECENT)('balances of a token by client %s', (version) => {
  it('equal those of chain-agent, from one store of DuckDB', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chain-agent-official-'))
    const store = await openDuckDbStore(folder, { identity: IDENTITY, clock: systemClock })
    onTestFinished(async () => {
      await store.close()
      await rm(folder, { recursive: true })
    })
    await store.append(plainChain(1, BLOCKS, transfers()))
    const api = await startApi({ blocks: [], store, height: () => BLOCKS, limits: { pageLogs: 100 } })

    const query = queryOf({ fromBlock: 1, toBlock: BLOCKS + 1, logs: [{ address: [TOKEN], topics: [[TRANSFER]] }] })
    const balances = new Map<string, bigint>()
    for (const { topics, data } of logsOf(await startClient(version, api).all('stream', query))) {
      const [, from = '', to = ''] = topics.map((topic) => topic?.replace('0x000000000000000000000000', '0x'))
      balances.set(from, (balances.get(from) ?? 0n) - BigInt(data))
      balances.set(to, (balances.get(to) ?? 0n) + BigInt(data))
    }
    balances.delete(`0x${'0'.repeat(40)}`)

    const ledger = createLedger({ standard: 'erc20', contract: TOKEN, fullHistory: true })
    const client = createQueryClient({ url: api.url, apiKey: null, clock: systemClock })
    const wanted = {
      addresses: [TOKEN],
      topics: [topicsOf('erc20', null)],
      fields: ['topic0', 'topic1', 'topic2', 'data'] as const,
      fromBlock: 1,
      toBlock: BLOCKS,
    }
    const sink = {
      page: (page: Parameters<typeof ledger.applyPage>[0]) => {
        ledger.applyPage(page)
      },
      reset: () => {
        throw new Error('the chain was replaced')
      },
    }
    const { complete } = await client.run(wanted, sink, { signal: new AbortController().signal })
    expect(complete).toBe(true)
    for (const [address, balance] of balances) expect(ledger.balanceOf(address, null)).toBe(balance)
    expect(ledger.result().rows.length).toBe([...balances.values()].filter((balance) => balance !== 0n).length)
    expect(balances.size).toBe(HOLDERS)
  })
})
