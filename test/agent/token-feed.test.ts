import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createTokenFeeds } from '../../src/agent/token-feed.ts'
import { type Faults, type QueryServer, startQueryServer } from '../support/query-server.ts'
import { ADA, history, TOKEN } from '../support/token-logs.ts'

let directory = ''
let server: QueryServer
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-feed-'))
})
afterEach(async () => {
  await server.close()
  await rm(directory, { recursive: true })
})

const { signal } = new AbortController()

const feed = () => {
  const watch = {
    name: 'gold',
    contract: TOKEN,
    standard: 'erc20',
    decimals: 0,
    holders: [{ name: 'ada', address: ADA }],
  }
  const value = { tokens: { url: server.url, watch: [watch] } }
  const file = { name: 'x.yaml', value, lineOf: () => 1 }
  const { config } = loadConfig({ file, env: {}, flags: [] })
  const [token] = config.tokens.watch
  if (!token) throw new Error('no token')
  return createTokenFeeds({ ...config.tokens, directory, clock: systemClock })(token)
}

/** Logs in the blocks 1 to 40, ten a page; 100 is the last settled block. */
const serve = async (faults: Faults): Promise<void> => {
  server = await startQueryServer({ logs: history(40), height: 300, pageLogs: 10, faults })
}
const queries = () => server.seen.filter(({ path }) => path === '/query')

describe('a token whose pages take longer than its share of the time', () => {
  it('reads one page in each turn, and so reaches the end', async () => {
    await serve(({ path }) => (path === '/query' ? { kind: 'slow', ms: 60 } : undefined))
    const { advance } = feed()
    const through: (number | null)[] = []
    for (let turn = 0; turn < 9 && through.at(-1) !== 100; turn += 1) {
      const came = await advance({ soft: 20, hard: 20_000 }, signal)
      expect(came).toMatchObject({ hasMoved: true, refusal: null })
      through.push(came.through)
    }
    expect(through.at(-1)).toBe(100)
    expect(through.length).toBeGreaterThan(2)
    const { result } = await advance({ soft: 20, hard: 20_000 }, signal)
    expect(result).toEqual({ isExplained: true, isAmbiguous: false, held: [280n] })
  })
  it('that take longer than the hard limit: reports it and requests fewer blocks', async () => {
    await serve(({ path, from, to }) => (path === '/query' && (to ?? 0) - from > 30 ? { kind: 'hang' } : undefined))
    const { advance } = feed()
    const first = await advance({ soft: 100, hard: 150 }, signal)
    expect(first).toMatchObject({ refusal: 'no page in time', hasMoved: false, through: null })
    expect(await advance({ soft: 100, hard: 20_000 }, signal)).toMatchObject({ hasMoved: true })
    // 101 blocks, then a quarter.
    expect(
      queries()
        .slice(0, 2)
        .map(({ from, to }) => (to ?? 0) - from),
    ).toEqual([101, 26])
  })
})

it('a page that is larger than the agent parses: fewer blocks are requested', async () => {
  const body = ' '.repeat(32 * 1024 * 1024 + 1)
  await serve(({ path, from, to }) =>
    path === '/query' && (to ?? 0) - from > 30 ? { kind: 'reply', status: 200, body } : undefined,
  )
  expect(await feed().advance({ soft: 60_000, hard: 60_000 }, signal)).toMatchObject({ through: 100, refusal: null })
})

it('a failed query: the reason that the service gave, without figures', async () => {
  const body = JSON.stringify({ error: { message: 'daily quota of 1000 exceeded' } })
  await serve(({ path }) => (path === '/query' ? { kind: 'reply', status: 200, body } : undefined))
  expect(await feed().advance({ soft: 10_000, hard: 20_000 }, signal)).toMatchObject({
    refusal: `could not fetch logs from the query service at ${server.url}: it answered with an error (daily quota of … exceeded)`,
  })
})

it('blocks that were replaced between two turns are read again', async () => {
  await serve(() => undefined)
  const { advance } = feed()
  const time = { soft: 10_000, hard: 20_000 }
  expect(await advance(time, signal)).toMatchObject({ through: 100 })
  const before = queries().length
  server.chain.reorg(5, history(6).slice(-2))
  server.chain.setHeight(310)
  await advance(time, signal)
  const asked = queries()
    .slice(before)
    .map(({ from }) => from)
  expect(asked.slice(0, 2)).toEqual([101, 0])
  // Six blocks instead of forty, with 7 each.
  expect(await advance(time, signal)).toMatchObject({ through: 110, refusal: null, result: { held: [42n] } })
})

it('a restarted agent reads only what came after its checkpoint', async () => {
  await serve(() => undefined)
  const time = { soft: 10_000, hard: 20_000 }
  expect(await feed().advance(time, signal)).toMatchObject({ through: 100, result: { held: [280n] } })
  const before = queries().length
  server.chain.setHeight(310)
  expect(await feed().advance(time, signal)).toMatchObject({ through: 110, result: { held: [280n] } })
  expect(
    queries()
      .slice(before)
      .map(({ from }) => from),
  ).toEqual([101])
})
