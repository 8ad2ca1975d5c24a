import { describe, expect } from 'vitest'
import { classifyRpcError, createBatchSizer, createRpc, createTransport } from '../../../query/service/ingest/rpc.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import type { Call, RpcFault } from '../../support/rpc-node.ts'
import { callsOf, has, ingestUntil, ingestWhole, it, NO_ERRORS, watchedStore } from './fixtures.ts'

/** Error messages of nodes and services for requests that are too large. */
const TOO_LARGE = [
  'block range too large',
  'response exceeds size limit',
  'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size',
  'query returned more than 10000 results',
  'query exceeds max results 20000, retry with the range 1-2',
  'query timeout exceeded',
  'exceed maximum block range: 5000',
  'block range is too wide',
  'eth_getLogs is limited to a 10,000 range',
  'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range',
  'requested too many blocks from 1 to 9999, maximum is set to 2048',
  'Block range limit exceeded. See more details',
  'logs matched by query exceeds limit of 10000',
  'backend response too large',
  'Request body too large',
  'batch size exceeded',
  'the batch is limited to 100 requests',
  'context deadline exceeded',
  'block range is bigger than maxBlockRange',
]

const OVERLOAD = [
  'overloaded, try again later',
  'Too Many Requests',
  'daily request count exceeded, request rate limited',
  'rate limit exceeded',
  'Your app has exceeded its compute units per second capacity',
  'project ID request rate exceeded: request limit reached',
  'server is busy',
  'Please slow down',
]

/** A node with a limit on the number of blocks per request. */
const takes =
  (most: number, message: string, code: number) =>
  ({ method, params }: Call): RpcFault | undefined => {
    const [from, to] = JSON.stringify(params).match(/0x[0-9a-f]+/g) ?? []
    return method === 'eth_getLogs' && to !== undefined && Number(to) - Number(from) >= most
      ? { kind: 'error', code, message }
      : undefined
  }

describe('classes of node errors', () => {
  it.each(TOO_LARGE)('too large: %s', (words) => {
    for (const code of [-32_005, -32_000, -32_602, null]) {
      expect(classifyRpcError(code, words)).toBe('too large')
    }
  })

  it.each(OVERLOAD)('overload: %s', (words) => {
    for (const code of [-32_005, -32_000, -32_601, null]) {
      expect(classifyRpcError(code, words)).toBe('overload')
    }
  })

  it.each([
    [-32_601, 'Method not found', 'no'],
    [-32_005, 'no', 'limit'],
    [-32_005, 'limit exceeded', 'limit'],
    [-32_005, 'daily quota exceeded', 'limit'],
    [429, 'no', 'overload'],
    [-32_602, 'invalid argument 0: hex string without 0x prefix', 'unknown tag'],
    [-39_001, 'finalized block not found', 'no'],
    [-32_603, 'Internal error', 'no'],
  ] as const)('is told from the words first: %d %s', (code, words, meaning) => {
    expect(classifyRpcError(code, words)).toBe(meaning)
  })
})

describe('the number of blocks in a request', () => {
  it('is halved without a pause until the node responds, and is not counted as a failure', async ({ startNode }) => {
    const from = await startNode({
      height: 300,
      faults: takes(10, 'block range too large', -32_602),
    })
    const { appended, store } = watchedStore()
    const { state, waits } = await ingestUntil({ node: from, store }, has(300))
    expect(appended.flat()).toHaveLength(301)
    expect(Math.max(...appended.map((blocks) => blocks.length))).toBeLessThanOrEqual(10)
    expect(state.errors).toEqual(NO_ERRORS)
    expect(waits).toEqual([])
    // It is tried again, but seldom: 16, and 20 % of the answers at most.
    const asked = callsOf(from, 'eth_getLogs')
    expect(asked.length).toBeLessThan(appended.length * 1.2)
  })

  it.for([
    ['block range is bigger than maxBlockRange', -32_000],
    ['query is not narrow', -32_602],
    ['window of 9 exhausted', -32_600],
    ['no', -32_005],
    ['nope', -32_603],
  ] as const)('is halved, whatever the node returns: %s (%d)', async ([message, code], { startNode }) => {
    const from = await startNode({ height: 100, faults: takes(10, message, code) })
    const { appended, store } = watchedStore()
    const { state, waits, notices } = await ingestUntil({ node: from, store }, has(100))
    expect(appended.flat()).toHaveLength(101)
    expect({ errors: state.errors, waits }).toEqual({ errors: NO_ERRORS, waits: [] })
    // The text of the node, once.
    expect(notices).toEqual([expect.stringMatching(new RegExp(`^requesting fewer blocks.*${message}$`))])
  })

  it('is halved down to one block, then a rejection counts as an outage; a method that the node does not have is one at once', async ({
    startNode,
  }) => {
    const from = await startNode({ height: 100 })
    for (const [code, ranges] of [
      [-32_603, ['0x7', '0x0', '0x0', '0x0']],
      [-32_601, ['0x7']],
    ] as const) {
      const before = callsOf(from, 'eth_getLogs').length
      from.faults = ({ method }) =>
        method === 'eth_getLogs' ? { kind: 'error', code, message: 'unavailable here' } : undefined
      const { store } = watchedStore()
      const { state } = await ingestUntil({ node: from, store }, ({ errors }) => errors.refused === 1)
      expect(state.trouble).toContain('the node returned an error: unavailable here')
      const asked = callsOf(from, 'eth_getLogs').slice(before)
      // Of a few blocks, the first is requested by its hash, and then by its number.
      expect(
        asked.map(({ params: [filter] }) => JSON.stringify(filter)).filter((text) => text.includes('toBlock')),
      ).toEqual(ranges.map((last) => `{"fromBlock":"0x0","toBlock":"${last}"}`))
    }
  })

  it('falls back to receipts if one block is too large', async ({ startNode }) => {
    const from = await startNode({ height: 12 })
    const heavy = (params: readonly unknown[]): boolean => {
      const text = JSON.stringify(params)
      return (
        text.includes(from.chain.hash(5)) ||
        text.includes(from.chain.hash(7)) ||
        (text.includes('fromBlock') && !text.includes('0x8'))
      )
    }
    from.faults = ({ method, params }) =>
      method === 'eth_getLogs' && heavy(params)
        ? { kind: 'error', code: -32_000, message: 'response exceeds size limit' }
        : undefined
    const { state, notices } = await ingestWhole(from)
    expect(notices).toEqual([
      `requesting fewer blocks at a time, which the node accepts; before: could not call eth_getLogs at ${from.url}: the request is too large for the node: response exceeds size limit`,
      'some blocks have too many logs for one response: reading their receipts instead',
    ])
    expect(state.errors).toEqual(NO_ERRORS)
  })

  it('doubles at first, and grows slowly after a reduction', () => {
    const sizer = createBatchSizer({ first: 8, most: 1000, characters: 1_000_000 })
    const seen = Array.from({ length: 9 }, () => {
      sizer.record(sizer.size(), 1000)
      return sizer.size()
    })
    expect(seen).toEqual([16, 32, 64, 128, 256, 512, 1000, 1000, 1000])
    sizer.reduce(1000)
    const after = Array.from({ length: 10 }, () => {
      sizer.record(sizer.size(), 1000)
      return sizer.size()
    })
    expect(after).toEqual([500, 500, 500, 500, 500, 500, 500, 625, 782, 978])
  })

  it('follows the size of the responses, and never falls below one', () => {
    const sizer = createBatchSizer({ first: 8, most: 1000, characters: 1_000_000 })
    sizer.record(8, 4_000_000)
    expect(sizer.size()).toBe(2)
    sizer.record(2, 3_000_000)
    expect(sizer.size()).toBe(1)
    sizer.reduce(1)
    expect(sizer.size()).toBe(1)
  })

  it('does not grow by small requests at the chain head', () => {
    const sizer = createBatchSizer({ first: 8, most: 1000, characters: 1_000_000 })
    for (let turn = 0; turn < 20; turn += 1) sizer.record(1, 100)
    expect(sizer.size()).toBe(8)
  })
})

describe('an answer', () => {
  it.for([
    [['eth_chainId'], 65_536, 1000],
    [['eth_getBlockByNumber'], 2_097_152, 100_000],
    [['eth_getLogs'], 67_108_864, 2_500_000],
    [Array.from({ length: 40 }, () => 'eth_getBlockByNumber'), 67_108_864, 2_500_000],
  ] as const)('has the size of what was asked for: %s', async ([methods, bytes, values]) => {
    const sizes: number[] = []
    const rpc = createRpc({ rpcUrl: 'http://node', clock: jumpingClock(), timeout: 1 }, (_, maxBytes) => {
      sizes.push(maxBytes)
      return Promise.resolve({ status: 200, body: Buffer.from(`[${'0,'.repeat(values)}0]`), wait: null })
    })
    const calls = methods.map((method) => ({ method, params: [] }))
    const [call = { method: '', params: [] }] = calls
    const { signal } = new AbortController()
    const response = calls.length === 1 ? rpc.one(call, signal) : rpc.many(calls.slice(0, 40), signal)
    await expect(response).rejects.toMatchObject({
      name: 'TooLargeError',
      happened: `the response has more than ${values} values`,
    })
    expect(sizes[0]).toBe(bytes)
  })

  it.for(['plain', 'packed'] as const)('is not taken beyond a number of bytes: %s', async (form, { startNode }) => {
    const from = await startNode({ height: 0 })
    if (form === 'plain') {
      from.faults = () => ({ kind: 'reply', status: 200, body: ' '.repeat(5000), headers: {} })
    } else {
      from.faults = () => ({ kind: 'result', change: () => ' '.repeat(5000) })
    }
    const post = createTransport({
      rpcUrl: from.url,
      clock: jumpingClock(),
      timeout: 30_000,
    })
    const body = JSON.stringify({ id: 1, method: 'eth_chainId', params: [] })
    await expect(post(body, 4000, new AbortController().signal)).rejects.toMatchObject({
      name: 'TooLargeError',
    })
  })
})
