import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tokens, type TokensReading } from '../../src/collectors/tokens/collector.ts'
import { loadConfig } from '../../src/config/load.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Outcome } from '../../src/core/collector.ts'
import { createTokenFeeds } from '../../src/agent/token-feed.ts'
import { type QueryServer, type QueryServerOptions, startQueryServer } from '../support/query-server.ts'
import { ADA, BOB, history, move, TOKEN, transfer, ZERO } from '../support/token-logs.ts'

let directory = ''
let server: QueryServer
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-tokens-'))
})
afterEach(async () => {
  await server.close()
  await rm(directory, { recursive: true })
})

const serve = async (options: QueryServerOptions): Promise<void> => {
  server = await startQueryServer(options)
}

/** The published hash of Deposit(address,uint256). */
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'

const WATCH = {
  name: 'gold',
  contract: TOKEN,
  standard: 'erc20',
  decimals: 1,
  holders: [
    { name: 'ada', address: ADA.toUpperCase().replace('0X', '0x') },
    { name: 'empty', address: `0x${'cc'.repeat(20)}` },
  ],
}

const PLAIN_WATCH = {
  name: 'gold',
  contract: TOKEN,
  profile: null,
  decimals: 1,
  fromBlock: 0,
}

/** One poll of a new collector. */
const pollOnce = async (watch: Readonly<Record<string, unknown>> = WATCH) => {
  const file = {
    name: 'x.yaml',
    value: { tokens: { url: server.url, watch: [watch] } },
    lineOf: () => 1,
  }
  const { config } = loadConfig({ file, env: {}, flags: [] })
  const feedOf = createTokenFeeds({ ...config.tokens, directory, clock: systemClock })
  const collector = tokens({ watch: config.tokens.watch, feedOf, timing: config.tokens })
  const ending = new AbortController()
  const outcome = await new Promise<Outcome<TokensReading>>((resolve) => {
    void collector.run({ clock: systemClock, signal: ending.signal }, resolve)
  })
  ending.abort()
  if (!outcome.ok) throw outcome.error
  const samples = collector.samples(outcome.value).map(({ name, labels, value }) => {
    const words = Object.values(labels).filter((word) => word !== '')
    return `${name} ${words.join(' ')} ${value}`
  })
  return { samples, states: collector.states(outcome.value), reading: outcome.value }
}

describe('balances of configured holders', () => {
  it('end 200 blocks below the height; a holder without tokens has 0', async () => {
    // Ada has 7 after each block; what is in block 101 may still be replaced.
    const logs = [...history(4), transfer({ block: 101 }, { from: ZERO, to: ADA, value: 100n })]
    await serve({ logs, height: 300 })
    const { samples, states, reading } = await pollOnce()
    expect(samples).toEqual([
      'chain_token_through_block gold 100',
      'chain_token_balance gold ada 2.8',
      'chain_token_balance gold empty 0',
    ])
    expect(states).toEqual({ 'balances of gold': 'known' })
    expect(reading.tokens[0]?.holders[0]).toMatchObject({ name: 'ada', address: ADA, balance: 28n })
  })
  it('resume from the checkpoint, but not with another configuration', async () => {
    await serve({ logs: history(4), height: 300 })
    await pollOnce()
    server.chain.add([transfer({ block: 101 }, { from: ADA, to: BOB, value: 28n })])
    server.chain.setHeight(301)
    const before = server.seen.length
    expect((await pollOnce()).samples).toContain('chain_token_balance gold ada 0')
    const requestsFrom = (from: number) =>
      server.seen.slice(from).flatMap((one) => (one.path === '/query' ? [one.from] : []))
    expect(requestsFrom(before)).toEqual([101])
    const again = server.seen.length
    await pollOnce({ ...WATCH, fromBlock: 2 })
    expect(requestsFrom(again)).toEqual([2])
  })
  it('are absent if the events do not explain them', async () => {
    await serve({ logs: [transfer({ block: 1 }, { from: BOB, to: ADA, value: 5n })], height: 300 })
    const { samples, states } = await pollOnce()
    expect(samples).toEqual(['chain_token_through_block gold 100'])
    expect(states).toEqual({
      'balances of gold': 'its events do not explain its balances (a wrapped native token needs profile: weth)',
    })
  })
  it('are absent if a balance was below 0 at the end of a block, also after later transfers made up for it', async () => {
    const logs = [
      transfer({ block: 1 }, { from: BOB, to: ADA, value: 5n }),
      transfer({ block: 2 }, { from: ADA, to: BOB, value: 5n }),
      transfer({ block: 3 }, { from: ZERO, to: ADA, value: 7n }),
    ]
    await serve({ logs, height: 300 })
    const { samples, states } = await pollOnce({ ...WATCH, profile: 'weth' })
    expect(samples).toEqual(['chain_token_through_block gold 100'])
    expect(states).toEqual({ 'balances of gold': 'its events do not explain its balances' })
  })
  it('of a wrapped token that logs a deposit and its Transfer count both once', async () => {
    const mint = transfer({ block: 1, index: 1 }, { from: ZERO, to: ADA, value: 50n })
    const topics = [DEPOSIT, mint.topics[2] ?? null, null, null]
    await serve({ logs: [{ ...mint, index: 0, topics }, mint], height: 300 })
    const { samples } = await pollOnce({ ...WATCH, profile: 'weth' })
    expect(samples).toContain('chain_token_balance gold ada 5')
  })
  it('have a state that reports amounts that may be ids', async () => {
    const logs = [7n, 8n].map((value, index) => transfer({ block: 1, index }, { from: ZERO, to: ADA, value }))
    await serve({ logs, height: 300 })
    expect((await pollOnce()).states['balances of gold']).toContain('do not distinguish ERC-20 from ERC-721')
    const { samples } = await pollOnce({ ...WATCH, standard: 'erc721', decimals: 0 })
    expect(samples).toContain('chain_token_balance gold ada 2')
  })
  it('of an ERC-721: the number of tokens, or whether one id is held', async () => {
    const logs = [7n, 8n].map((value, index) => move({ block: 1, index }, { from: ZERO, to: ADA, value }))
    await serve({ logs, height: 300 })
    const { samples } = await pollOnce({
      ...WATCH,
      standard: 'erc721',
      decimals: 0,
      holders: [
        { name: 'ada', address: ADA },
        { name: 'ada', address: ADA, id: 7 },
        { name: 'bob', address: BOB, id: '8' },
      ],
    })
    expect(samples.slice(1)).toEqual([
      'chain_token_balance gold ada 2',
      'chain_token_balance gold ada 7 1',
      'chain_token_balance gold bob 8 0',
    ])
  })
  it('with the wrong standard report the right one', async () => {
    await serve({
      logs: [move({ block: 1 }, { from: ZERO, to: ADA, value: 7n })],
      height: 300,
    })
    const { samples, states } = await pollOnce()
    expect(samples).toEqual([])
    expect(states['balances of gold']).toContain('its Transfer events are of erc721, not of erc20')
  })
})

it('events of a reorganised block are dropped', async () => {
  await serve({ logs: history(4), height: 300, pageBlocks: 20 })
  await pollOnce()
  const place = join(directory, 'token-gold.checkpoint')
  await access(place)
  server.chain.setHeight(400)
  let isReplaced = false
  server.faults = ({ path, from }) => {
    if (path === '/query' && from === 0) return { kind: 'reply', status: 400 }
    if (from > 121 && !isReplaced) {
      isReplaced = true
      server.chain.reorg(0, [])
    }
    return undefined
  }
  const { samples } = await pollOnce()
  expect({ samples, isReplaced }).toEqual({ samples: [], isReplaced: true })
  await expect(access(place)).rejects.toThrow('ENOENT')
})

it.each([
  ['continues at once while it progresses', [true, true, false], [1000, 1000, 60_000]],
  ['does not retry every second without progress', [false, false], [60_000, 60_000]],
])('%s', async (_title, moves, expected) => {
  const slept: number[] = []
  const ending = new AbortController()
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    // What waits for a deadline waits for ever.
    sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
      if (signal !== ending.signal) return new Promise(() => undefined)
      slept.push(ms)
      if (slept.length === moves.length) ending.abort()
      return Promise.resolve()
    },
  }
  const timing = { interval: 60_000, timeout: 25_000 }
  const advance = () =>
    Promise.resolve({
      through: null,
      result: null,
      hasMoved: moves[slept.length] ?? false,
      refusal: null,
    })
  const watch = [{ ...PLAIN_WATCH, standard: 'erc20' as const, holders: [] }]
  const collector = tokens({ watch, feedOf: () => ({ advance }), timing })
  await collector.run({ clock, signal: ending.signal }, () => undefined)
  expect(slept).toEqual(expected)
})

it.each([
  [{ url: null }, 'tokens.url: expected the address of a query service'],
  [{ watch: [{ ...WATCH, standard: 'erc1155' }] }, 'expected an id for each holder of erc1155'],
  [{ watch: [{ ...WATCH, holder: [] }] }, 'no such key: tokens.watch.0.holder; did you mean holders?'],
  [{ watch: [WATCH, WATCH] }, 'expected tokens with distinct names'],
])('%j is rejected', async (wrong, expected) => {
  await serve({ logs: [], height: 1 })
  const value = { tokens: { url: server.url, watch: [WATCH], ...wrong } }
  const file = { name: 'x.yaml', value, lineOf: () => 1 }
  expect(() => loadConfig({ file, env: {}, flags: [] })).toThrow(expected)
})
