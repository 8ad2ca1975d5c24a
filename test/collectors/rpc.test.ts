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
  'eth_getBlockByNumber latest': { number: '0x65', timestamp: '0x3e8' },
  'eth_getBlockByNumber safe': { number: '0x63', timestamp: '0x3e7' },
  'eth_getBlockByNumber finalized': { number: '0x62', timestamp: '0x3e6' },
  web3_clientVersion: 'Chain/1.2.3',
  eth_chainId: '0x8f',
  net_version: '143',
})
const refused = new NoResponseError('refused', 'http://h.example', 'ECONNREFUSED')

const timing = { interval: 2000, timeout: 1000 }

describe('rpc', () => {
  const watch = async (answers: Answers) => {
    const clock = manualClock(50_000)
    const record = recording()
    const collector = rpc({ node: endpoint(answers), recorder: record.recorder, clock, timing })
    return { ...(await runPolls(collector, clock)), ...record }
  }

  test('heights by tag: eth_blockNumber defines the latest', async () => {
    const { shown } = await watch(healthy())
    expect(shown()).toEqual({
      rpc_up: 1,
      'rpc_block_number{latest}': 100,
      'rpc_block_timestamp_seconds{latest}': 1000,
      'rpc_block_number{safe}': 99,
      'rpc_block_timestamp_seconds{safe}': 999,
      'rpc_block_number{finalized}': 98,
      'rpc_block_timestamp_seconds{finalized}': 998,
      'rpc_info{Chain/1.2.3,143,143}': 1,
    })
  })

  test('the last advance is absent until the height has increased between two polls', async () => {
    const answers = healthy()
    const { shown, next } = await watch(answers)
    await next()
    expect(shown()).not.toHaveProperty('rpc_last_advance_timestamp_seconds')
    answers['eth_blockNumber'] = '0x65'
    await next()
    expect(shown()).toMatchObject({ rpc_last_advance_timestamp_seconds: 54 })
    await next()
    answers['eth_blockNumber'] = '0x10' // a node that was set back has not advanced
    await next()
    expect(shown()).toMatchObject({ rpc_last_advance_timestamp_seconds: 54 })
  })

  test.each([
    ['refused', refused, 'refused: could not request http://h.example: no connection (ECONNREFUSED)'],
    ['http', 503, 'http: HTTP status 503'],
    ['http', new Body(402, { message: 'quota of 1000 used up' }), 'http: HTTP status 402 (quota of … used up)'],
    [
      'http',
      new Body(503, '<html><title>Back soon</title><h1>Maintenance</h1></html>'),
      'http: HTTP status 503 (Back soon Maintenance)',
    ],
    [
      'jsonrpc',
      new Body(200, { error: { code: -32_005, message: 'too many requests' } }),
      'jsonrpc: too many requests',
    ],
    ['jsonrpc', new Body(200, { id: 1, error: 'quota exceeded' }), 'jsonrpc: quota exceeded'],
    ['jsonrpc', new Body(200, { message: 'no key abc123def' }), 'jsonrpc: no key …'],
    ['invalid', 'not hex', 'invalid'],
    ['invalid', '0xffffffffffffffff', 'invalid'],
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
  const watch = async (own: Answers, others: Readonly<Record<string, Answers | string>>) => {
    const clock = manualClock()
    const references = Object.entries(others).map(([name, answers]) =>
      typeof answers === 'string'
        ? {
            name,
            kind: 'query' as const,
            source: { height: () => Promise.resolve({ status: 200, text: answers }) },
          }
        : { name, kind: 'rpc' as const, source: endpoint(answers) },
    )
    const collector = reference({ node: endpoint(own), references, window: 10n, timing })
    return runPolls(collector, clock)
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
      blocks_behind: 3,
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
    expect(shown()).toEqual({
      'reference_up{a}': 1,
      'reference_block_number{a}': 100,
      reference_agreeing: 1,
    })
  })

  test('the reason of a query service is shown', async () => {
    const { states } = await watch(healthy(), { q: '{"error":{"code":-32005,"message":"daily quota exceeded"}}' })
    expect(states()).toEqual({ 'reference q': 'jsonrpc: daily quota exceeded' })
  })

  test('one of three references is no quorum', async () => {
    const gone = { eth_blockNumber: refused, eth_chainId: refused }
    const { shown } = await watch(healthy(), { a: healthy(), b: gone, c: '{"height":null}' })
    expect(shown()).toMatchObject({ 'reference_up{b}': 0, 'reference_up{c}': 0 })
    expect(shown()).not.toHaveProperty('blocks_behind')
  })
})
