import { z } from 'zod'
import { systemClock } from '../../src/core/clock.ts'
import { createQueryClient } from '../../query/client/client.ts'
import { createLedger } from '../../query/tokens/ledger.ts'
import { topicsOf } from '../../query/tokens/signatures.ts'
import type { LedgerResult, Standard } from '../../query/tokens/types.ts'
import { type QueryServer, startQueryServer } from '../support/query-server.ts'
import { type Chain, type Deployed } from './chain.ts'
import { type Balances } from './contract-balances.ts'

const DIALECTS = ['spec', 'hosted'] as const
export const API_KEY = 'key-of-the-chain'

type Dialect = (typeof DIALECTS)[number]

/** All logs of the chain behind a query service of each dialect. */
export interface Served {
  readonly servers: ReadonlyMap<Dialect, QueryServer>
  stop(): Promise<void>
}

const logSchema = z
  .object({
    blockNumber: z.string(),
    logIndex: z.string(),
    address: z.string(),
    topics: z.array(z.string()),
    data: z.string(),
  })
  .transform(({ blockNumber, logIndex, ...log }) => ({
    ...log,
    block: Number(blockNumber),
    index: Number(logIndex),
  }))

export const serve = async (chain: Chain): Promise<Served> => {
  const found = await chain.ask('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
  const logs = z.array(logSchema).parse(found)
  const height = await chain.height()
  const servers = new Map<Dialect, QueryServer>()
  for (const dialect of DIALECTS) {
    const way = { dialect, apiKey: API_KEY, pageLogs: 700 }
    const packing = dialect === 'hosted' ? { packing: 'gzip' as const } : {}
    servers.set(dialect, await startQueryServer({ ...way, ...packing, logs, height }))
  }
  return {
    servers,
    stop: async () => {
      for (const server of servers.values()) await server.close()
    },
  }
}

export interface Rebuilt {
  readonly balances: Balances
  readonly result: LedgerResult
}

interface Wanted {
  readonly standard: Standard
  readonly contract: Deployed
  readonly fromBlock?: number
  readonly dialect?: Dialect
}

/** By the client and the ledger alone. */
export const rebuild = async (
  { servers }: Served,
  { standard, contract, fromBlock = 0, dialect = 'hosted' }: Wanted,
): Promise<Rebuilt> => {
  const url = servers.get(dialect)?.url ?? ''
  const client = createQueryClient({ url, apiKey: API_KEY, clock: systemClock })
  const fullHistory = fromBlock === 0
  const ledger = createLedger({ standard, contract: contract.address.toLowerCase(), fullHistory })
  const query = {
    addresses: [contract.address.toLowerCase()],
    topics: [topicsOf(standard, null)],
    fields: ['topic0', 'topic1', 'topic2', 'topic3', 'data'] as const,
    fromBlock,
    toBlock: null,
  }
  const sink = {
    page: (page: Parameters<typeof ledger.applyPage>[0]) => ledger.applyPage(page),
    reset: () => {
      throw new Error('a development chain has no reorg')
    },
  }
  const { complete } = await client.run(query, sink, { signal: new AbortController().signal })
  if (!complete) throw new Error('the run has not completed')
  const result = ledger.result()
  return { balances: balancesOf(result), result }
}

const balancesOf = ({ rows, intervals }: LedgerResult): Balances => {
  const balances = new Map<string, bigint>()
  const set = (name: string, balance: bigint): void => {
    if (balances.has(name)) throw new Error(`${name} is listed twice`)
    balances.set(name, balance)
  }
  for (const { address, id, balance } of rows) {
    set(id === null ? address : `${id} ${address}`, balance)
  }
  for (const { from, to, owner } of intervals) {
    for (let id = from; id <= to; id += 1n) set(`${id} ${owner}`, 1n)
  }
  return balances
}
