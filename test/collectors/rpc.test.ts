import { describe, expect, test } from 'vitest'
import { reference } from '../../src/collectors/reference/collector.ts'
import { rpc } from '../../src/collectors/rpc/collector.ts'
import { NoResponseError } from '../../src/sources/http.ts'
import type { RpcEndpoint } from '../../src/sources/endpoints.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

type Answers = Record<string, unknown>

/** A response that is not a result of JSON-RPC. */
class Body {
  readonly status: number
  readonly text: string
  constructor(status: number, body: unknown) {
    this.status = status
    this.text = typeof body === 'string' ? body : JSON.stringify(body)
  }
}

/** An endpoint that responds from a table: a result by method (and tag), or an error that is thrown. */
const endpoint = (answers: Answers): RpcEndpoint => ({
  call: (method, [tag]) => {
    const answer = answers[typeof tag === 'string' ? `${method} ${tag}` : method]
    if (answer instanceof Error) return Promise.reject(answer)
    if (typeof answer === 'number') return Promise.resolve({ status: answer, text: '' })
    if (answer instanceof Body) return Promise.resolve(answer)
    return Promise.resolve({ status: 200, text: JSON.stringify({ id: 1, result: answer }) })
  },
})
const healthy = (): Answers => ({
  eth_blockNumber: '0x64',
  'eth_getBlockByNumber latest': { number: '0x65', timestamp: '0x69a40e20' },
  'eth_getBlockByNumber safe': { number: '0x63', timestamp: '0x69a40e1f' },
  'eth_getBlockByNumber finalized': { number: '0x62', timestamp: '0x69a40e1e' },
  web3_clientVersion: 'Chain/1.2.3',
  eth_chainId: '0x8f',
  net_version: '143',
})
const refused = new NoResponseError('refused', 'http://h.example', 'ECONNREFUSED')

const timing = { interval: 2000, timeout: 1000 }

const NOT_HEX = 'invalid: could not parse a JSON-RPC response: expected a hex quantity like "0x1b4"'

describe('rpc', () => {
  const watch = async (answers: Answers) => {
    const clock = manualClock(1_772_359_200_000)
    const record = recording()
    const collector = rpc({ url: '', batchingRpcAt: () => endpoint(answers), recorder: record.recorder, clock, timing })
    return { ...(await runPolls(collector, clock)), ...record }
  }

  test('heights by tag: eth_blockNumber defines the latest', async () => {
    const { shown } = await watch(healthy())
    expect(shown()).toEqual({
      rpc_up: 1,
      'rpc_block_number{latest}': 100,
      'rpc_block_timestamp_seconds{latest}': 1_772_359_200,
      'rpc_block_number{safe}': 99,
      'rpc_block_timestamp_seconds{safe}': 1_772_359_199,
      'rpc_block_number{finalized}': 98,
      'rpc_block_timestamp_seconds{finalized}': 1_772_359_198,
      'rpc_info{Chain/1.2.3,143,143}': 1,
    })
  })

  test('the base fee is that of the latest block; absent on a chain without', async () => {
    const answers = healthy()
    answers['eth_getBlockByNumber latest'] = { number: '0x65', timestamp: '0x69a40e20', baseFeePerGas: '0x174876e800' }
    answers['eth_getBlockByNumber safe'] = { number: '0x63', timestamp: '0x69a40e1f', baseFeePerGas: '0x1' }
    const { shown, next } = await watch(answers)
    expect(shown()).toMatchObject({ rpc_base_fee_wei: 100_000_000_000 })
    answers['eth_getBlockByNumber latest'] = { number: '0x65', timestamp: '0x69a40e20' }
    await next()
    expect(shown()).not.toHaveProperty('rpc_base_fee_wei')
  })

  test.each([
    ['in an hour', '0x69a41c30'],
    ['that was never set', '0xffffffffffffffff'],
  ])('a block of a time %s has a height and no time', async (_, timestamp) => {
    const answers = healthy()
    answers['eth_getBlockByNumber safe'] = { number: '0x63', timestamp }
    const { shown } = await watch(answers)
    expect(shown()).toMatchObject({ rpc_up: 1, 'rpc_block_number{safe}': 99 })
    expect(shown()).not.toHaveProperty('rpc_block_timestamp_seconds{safe}')
    expect(shown()).toHaveProperty('rpc_block_timestamp_seconds{finalized}')
  })

  test('the last advance is absent until the height has increased between two polls', async () => {
    const answers = healthy()
    const { shown, next } = await watch(answers)
    await next()
    expect(shown()).not.toHaveProperty('rpc_last_advance_timestamp_seconds')
    answers['eth_blockNumber'] = '0x65'
    await next()
    expect(shown()).toMatchObject({ rpc_last_advance_timestamp_seconds: 1_772_359_204 })
    await next()
    answers['eth_blockNumber'] = '0x10' // a node that was set back has not advanced
    await next()
    expect(shown()).toMatchObject({ rpc_last_advance_timestamp_seconds: 1_772_359_204 })
  })

  test.each([
    ['refused', refused, 'refused: could not request http://h.example: no connection (ECONNREFUSED)'],
    ['http', 503, 'http: HTTP status 503'],
    ['http', new Body(402, { message: 'quota of 1000 used up' }), 'http: HTTP status 402 (quota of … used up)'],
    ['jsonrpc', new Body(200, { message: 'no key abc123def' }), 'jsonrpc: no key …'],
    ['invalid', 'not hex', NOT_HEX],
  ])('%s: up is 0, everything else is absent', async (reason, answer, state) => {
    const answers = healthy()
    const { shown, states, next, total } = await watch(answers)
    answers['eth_blockNumber'] = answer
    await next()
    expect(shown()).toEqual({ rpc_up: 0 })
    expect(states()).toEqual({ 'node RPC': state })
    expect(total(`chain_rpc_errors_total{method=eth_blockNumber,reason=${reason}}`)).toBe(1)
  })

  test('a failed tag does not affect the others', async () => {
    const answers = { ...healthy(), 'eth_getBlockByNumber finalized': null }
    const { shown } = await watch(answers)
    expect(Object.keys(shown()).filter((series) => series.includes('finalized'))).toEqual([])
    expect(shown()).toMatchObject({ rpc_up: 1, 'rpc_block_number{safe}': 99 })
  })

  test('version and chain: a failed request keeps the values, and is repeated soon', async () => {
    const answers: Answers = { ...healthy(), web3_clientVersion: 500 }
    const { shown, next } = await watch(answers)
    expect(shown()).toHaveProperty('rpc_info{,143,143}')
    answers['web3_clientVersion'] = 'Chain/1.2.3'
    await next(10_000)
    expect(shown()).toHaveProperty('rpc_info{Chain/1.2.3,143,143}')
    answers['web3_clientVersion'] = 500
    for (let minute = 0; minute < 31; minute += 1) await next()
    expect(shown()).toHaveProperty('rpc_info{Chain/1.2.3,143,143}')
    answers['eth_blockNumber'] = refused // what answers next may be another version
    await next()
    answers['eth_blockNumber'] = '0x64'
    await next()
    expect(shown()).toHaveProperty('rpc_info{,143,143}')
  })
})

describe('reference', () => {
  const watch = async (
    own: Answers,
    others: Readonly<Record<string, Answers | string>>,
    endpointOf: (answers: Answers) => RpcEndpoint = endpoint,
  ) => {
    const answersOf = (name: string) => (name === 'node' ? own : (others[name] ?? ''))
    const collector = reference({
      rpcUrl: 'node',
      isRpcOfNode: true,
      references: Object.entries(others).map(([name, answers]) => {
        return { name, url: name, kind: typeof answers === 'string' ? 'query' : 'rpc', apiKeyFile: null }
      }),
      rpcAt: (name) => {
        const answers = answersOf(name)
        return endpointOf(typeof answers === 'string' ? {} : answers)
      },
      queryAt: ({ url }) => {
        const text = answersOf(url)
        return { height: () => Promise.resolve({ status: 200, text: typeof text === 'string' ? text : '' }) }
      },
      timing,
    })
    return runPolls(collector, manualClock())
  }

  test('an RPC endpoint is compared on latest, a query service on finalized', async () => {
    const other = { ...healthy(), eth_blockNumber: '0x67' } // 103 against 100
    const { shown } = await watch(healthy(), { a: other, q: '{"height":101}' }) // 101 against 98
    expect(shown()).toEqual({
      'reference_up{a}': 1,
      'reference_block_number{a}': 103,
      'reference_up{q}': 1,
      'reference_block_number{q}': 101,
      reference_agreeing: 2,
      block_difference: 3,
    })
  })

  test('an endpoint of another chain is not a reference', async () => {
    const other = { ...healthy(), eth_chainId: '0x1' }
    const { shown, states } = await watch(healthy(), { a: other })
    expect(shown()).toEqual({ 'reference_up{a}': 0, reference_agreeing: 0 })
    expect(states()).toEqual({ 'reference a': 'another chain' })
  })

  test('a node without a chain id does not disable a reference', async () => {
    const { shown } = await watch({ eth_blockNumber: refused }, { a: healthy() })
    expect(shown()).toEqual({ 'reference_up{a}': 1, 'reference_block_number{a}': 100, reference_agreeing: 1 })
  })

  test('the reason of a query service is shown', async () => {
    const { states } = await watch(healthy(), { q: '{"error":{"code":-32005,"message":"daily quota exceeded"}}' })
    expect(states()).toEqual({ 'reference q': 'jsonrpc: daily quota exceeded' })
  })

  test('one of three references is no quorum', async () => {
    const gone = { eth_blockNumber: refused, eth_chainId: refused }
    const { shown } = await watch(healthy(), { a: healthy(), b: gone, c: '{"height":null}' })
    expect(shown()).toMatchObject({ 'reference_up{b}': 0, 'reference_up{c}': 0 })
    expect(shown()).not.toHaveProperty('block_difference')
  })

  describe('the block at a height that all have finalized', () => {
    const block = (height: number, chain = 'a') => ({
      number: `0x${height.toString(16)}`,
      timestamp: '0x3e8',
      hash: `0x${chain.repeat(64)}`,
      parentHash: `0x${chain.repeat(63)}0`,
      stateRoot: `0x${chain.repeat(62)}00`,
    })
    /** The newest block is 100, the newest finalized one 98: block 90 has ten blocks on top. */
    const withBlock = (changes: Answers = {}): Answers => ({
      ...healthy(),
      'eth_getBlockByNumber 0x5a': block(90),
      ...changes,
    })
    const other = { 'eth_getBlockByNumber 0x5a': block(90, 'B') }
    const matchesOf = async (own: Answers, others: Readonly<Record<string, Answers | string>>) => {
      const { shown } = await watch(own, others)
      return Object.entries(shown()).filter(([name]) => name.startsWith('reference_hash_matches'))
    }

    test('the same, and another one', async () => {
      const { shown, states } = await watch(withBlock(), { a: withBlock(), b: withBlock(other) })
      expect(shown()).toMatchObject({ 'reference_hash_matches{a}': 1, 'reference_hash_matches{b}': 0 })
      expect(states()).toMatchObject({
        'block of a': 'the same as that of the node',
        'block of b': 'another hash or state root than that of the node',
      })
    })

    test.each([
      ['an upper-case hash is the same', { hash: `0x${'A'.repeat(64)}` }, 1],
      ['the same hash with another state root is not the same block', { stateRoot: `0x${'c'.repeat(64)}` }, 0],
      ['a reference without state roots is compared by hash', { stateRoot: undefined }, 1],
    ])('%s', async (_, change, matches) => {
      const a = withBlock({ 'eth_getBlockByNumber 0x5a': { ...block(90), ...change } })
      expect(await matchesOf(withBlock(), { a })).toEqual([['reference_hash_matches{a}', matches]])
    })

    test.each([
      ['it does not have the block', { 'eth_getBlockByNumber 0x5a': null }],
      ['it returns another block', { 'eth_getBlockByNumber 0x5a': block(91, 'b') }],
      ['it fails', { 'eth_getBlockByNumber 0x5a': refused }],
      ['its block has no hash', { 'eth_getBlockByNumber 0x5a': { number: '0x5a', timestamp: '0x3e8' } }],
      ['it is of another chain', { ...other, eth_chainId: '0x1' }],
      ['its chain is unknown', { ...other, eth_chainId: refused }],
      ['it is more than ten blocks behind the finalized block', { ...other, eth_blockNumber: '0x57' }],
    ])('unknown: %s', async (_, changes) => {
      expect(await matchesOf(withBlock(), { a: withBlock(changes), b: withBlock() })).toEqual([
        ['reference_hash_matches{b}', 1],
      ])
    })

    test('unknown: the node does not have the block, has finalized none, or has no chain id', async () => {
      const a = withBlock(other)
      expect(await matchesOf(withBlock({ 'eth_getBlockByNumber 0x5a': null }), { a })).toEqual([])
      expect(await matchesOf(withBlock({ 'eth_getBlockByNumber finalized': null }), { a })).toEqual([])
      expect(await matchesOf(withBlock({ eth_chainId: refused }), { a })).toEqual([])
    })

    test('unknown: a query service has no block headers', async () => {
      expect(await matchesOf(withBlock(), { q: '{"height":98}' })).toEqual([])
    })

    test('a node that no longer advances is compared at its own finalized block', async () => {
      const at98 = (chain: string): Answers => ({ 'eth_getBlockByNumber 0x62': block(98, chain) })
      const own = withBlock({ 'eth_getBlockByNumber finalized': block(98, 'b'), ...at98('b') })
      const ahead = withBlock({ eth_blockNumber: '0xc8', ...at98('a') })
      expect(await matchesOf(own, { a: ahead })).toEqual([['reference_hash_matches{a}', 0]])
    })

    test('a reference that lags lowers the height for all; one request to each', async () => {
      const calls: unknown[] = []
      const counted = (answers: Answers): RpcEndpoint => ({
        call: (method, params, signal) => {
          if (method === 'eth_getBlockByNumber') calls.push(params[0])
          return endpoint(answers).call(method, params, signal)
        },
      })
      const at = (height: string) => ({ eth_blockNumber: height, 'eth_getBlockByNumber 0x50': block(80) })
      const others = Object.fromEntries(['0x5a', '0x64'].map((height) => [height, withBlock(at(height))]))
      const { shown } = await watch(withBlock(at('0x64')), others, counted)
      expect(shown()).toMatchObject({ 'reference_hash_matches{0x5a}': 1, 'reference_hash_matches{0x64}': 1 })
      expect(calls).toEqual(['finalized', '0x50', '0x50', '0x50'])
    })
  })
})
