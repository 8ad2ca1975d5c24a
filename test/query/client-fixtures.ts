import { expect, test } from 'vitest'
import { createQueryClient } from '../../query/client/client.ts'
import type {
  ClientOptions,
  LogQuery,
  Page,
  PageSink,
  RawLog,
  RunOptions,
  RunResult,
} from '../../query/client/types.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import type { ServedLog } from '../support/query-chain.ts'
import { type QueryServer, type QueryServerOptions, startQueryServer } from '../support/query-server.ts'

/** All logs up to the height, without the fields that no test reads. */
export const EVERYTHING: LogQuery = {
  addresses: [],
  topics: [],
  fields: ['data', 'topic0', 'topic1', 'topic2', 'topic3'],
  fromBlock: 0,
  toBlock: null,
}

/** A sink that keeps the pages. */
export const keepPages = () => {
  const pages: Page[] = []
  let resets = 0
  const sink: PageSink = {
    page: (page) => {
      // Rejects an invalid page, like a ledger.
      page.logs()
      pages.push(page)
    },
    reset: () => {
      pages.length = 0
      resets += 1
    },
  }
  return {
    sink,
    pages,
    logs: (): readonly RawLog[] => pages.flatMap((page) => page.logs()),
    resets: (): number => resets,
  }
}

interface Fetching extends Partial<RunOptions> {
  readonly client?: Partial<ClientOptions>
  readonly query?: Partial<LogQuery>
  readonly clock?: ReturnType<typeof jumpingClock>
}

/** Runs a query on a clock that jumps. Returns the pages even if the run failed. */
export const fetchAll = async (url: string, { client, query, clock = jumpingClock(), ...options }: Fetching = {}) => {
  const kept = keepPages()
  const made = createQueryClient({ url, apiKey: null, clock, ...client })
  const ran: { readonly result: RunResult } | { readonly error: unknown } = await made
    .run({ ...EVERYTHING, ...query }, kept.sink, { signal: new AbortController().signal, ...options })
    .then((result) => ({ result }))
    .catch((error: unknown) => ({ error }))
  return { ...kept, clock, result: undefined, error: undefined, ...ran }
}

/** The position and the data of each log, which identify it. */
export const positionsOf = (logs: readonly RawLog[]): readonly string[] =>
  logs.map(({ blockNumber, logIndex, data }) => `${blockNumber}/${logIndex} ${data}`)

/** The same for the logs of the chain. */
export const positionsIn = (logs: readonly ServedLog[]): readonly string[] =>
  logs.map(({ block, index, data }) => `${block}/${index} ${data}`)

/** The same, and expects every log of the chain once and in order. */
export const fetchWhole = async ({ url, chain }: QueryServer, options?: Fetching) => {
  const fetched = await fetchAll(url, options)
  expect(fetched.error).toBeUndefined()
  expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
  return fetched
}

/** `perBlock` logs in each block from `from` to `to`; `data` distinguishes two chains. */
export const steadyLogs = (from: number, to: number, { perBlock = 1, data = '0x01' } = {}): ServedLog[] =>
  Array.from({ length: (to - from + 1) * perBlock }, (_, at) => ({
    block: from + Math.floor(at / perBlock),
    index: at % perBlock,
    address: `0x${'11'.repeat(20)}`,
    topics: [`0x${'ab'.repeat(32)}`, null, null, null],
    data,
  }))

const SERVED: QueryServerOptions = { logs: steadyLogs(1, 30), pageLogs: 10 }

/**
 * Tests with a query service. By default it has one log in each of the blocks 1 to 30, ten a page. All of them are so
 * near the head that they may still be replaced, so the client requests one page at a time.
 */
export const it = test
  .extend('served', SERVED)
  .extend('serve', ({ served, onTestFinished }): Serve => async (options) => {
    const server = await startQueryServer({ ...served, ...options })
    onTestFinished(server.close)
    return server
  })

/** Starts a query service with these options in place of the default ones; it is closed after the test. */
export type Serve = (options?: QueryServerOptions) => Promise<QueryServer>

/** The number of queries so far. */
export const queriesTo = ({ seen }: QueryServer): number => seen.filter(({ path }) => path === '/query').length
