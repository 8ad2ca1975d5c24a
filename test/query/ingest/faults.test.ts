import { describe, expect } from 'vitest'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { type Call, type RpcFault, type RpcFaults } from '../../support/rpc-node.ts'
import {
  callsOf,
  changed,
  changedList,
  has,
  ingestUntil,
  ingestWhole,
  it as ingestTest,
  NO_ERRORS,
  result,
  type StartNode,
  to,
  watchedStore,
} from './fixtures.ts'

/** Blocks 0 to 40 are indexed as they are, in spite of these faults. */
const indexingWhole = (startNode: StartNode) => async (faults: RpcFaults) => {
  const from = await startNode({ height: 40, faults })
  return { ...(await ingestWhole(from)), asked: (method: string) => callsOf(from, method) }
}
const it = ingestTest.extend('through', ({ startNode }) => indexingWhole(startNode))

const HASH = `0x${'12'.repeat(32)}`

const once =
  (method: string, fault: RpcFault) =>
  (call: Call): RpcFault | undefined =>
    call.method === method && call.nth === 0 ? fault : undefined

const always =
  (method: string, fault: RpcFault) =>
  (call: Call): RpcFault | undefined =>
    call.method === method ? fault : undefined

const error = (message: string, code = -32_602): RpcFault => ({ kind: 'error', code, message })
const reply = (status: number, body = '', headers = {}): RpcFault => ({
  kind: 'reply',
  status,
  body,
  headers,
})

describe('logs that the node leaves out', () => {
  // The first answer is of blocks 0…7, with 0 1 2 3 0 1 2 3 logs.
  it.for<[string, RpcFault, number]>([
    ['a log, and another comes twice', changedList((all) => all.toSpliced(4, 1, all[3])), 3],
    [
      'a log is of a transaction of another block',
      changedList((all) => all.with(4, logWith(all[4], { transactionHash: HASH }))),
      3,
    ],
    [
      'logs are not in the order of transactions',
      changedList((all) => all.with(3, logWith(all[5], { logIndex: '0x0' }))),
      3,
    ],
  ])('are detected and read in another way: %s', async ([, fault, block], { through }) => {
    const { state, asked } = await through(once('eth_getLogs', fault))
    expect(state.errors).toEqual({ ...NO_ERRORS, incomplete: 1 })
    expect(asked('eth_getBlockReceipts').map(({ params }) => params)).toEqual([[`0x${block}`]])
  })

  it('are read from single receipts if the node has no block receipts', async ({ startNode }) => {
    const from = await startNode({ height: 40 })
    const faults: RpcFaults = (call) =>
      call.method === 'eth_getBlockReceipts'
        ? error('Method not found', -32_601)
        : once(
            'eth_getLogs',
            changedList((all) => all.toSpliced(4, 1)),
          )(call)
    from.faults = faults
    await ingestWhole(from)
    // Block 3 has two transactions with logs, and one without.
    const asked = callsOf(from, 'eth_getTransactionReceipt').map(({ params }) => params[0])
    expect(asked.slice(0, 3)).toEqual(from.chain.transactions(3))
  })

  it.for<[string, Parameters<typeof changedList>[0]]>([
    ['a transaction with logs', (all) => all.slice(1)],
    ['one without', (all) => all.slice(0, -1)],
  ])('are an error if the receipts lack %s', async ([, lacking], { startNode }) => {
    const from = await startNode({ height: 40 })
    from.faults = (call) =>
      once(
        'eth_getLogs',
        changedList((all) => all.toSpliced(4, 1)),
      )(call) ?? once('eth_getBlockReceipts', changedList(lacking))(call)
    const { appended, store } = watchedStore()
    const { state } = await ingestUntil({ node: from, store }, has(40))
    expect(appended.flat()).toEqual(to(40).map(from.chain.block))
    // The blocks before it are stored, and it is requested again.
    expect(appended[0]).toHaveLength(3)
    expect(state.errors).toEqual({ ...NO_ERRORS, incomplete: 1 })
  })
})

describe('the order of logs', () => {
  it('does not matter, nor do capitals', async ({ through }) => {
    const shuffled = changedList((all) =>
      all.toReversed().map((log) => logWith(log, { address: `0x${'A'}${addressOf(log).slice(3).toUpperCase()}` })),
    )
    const { state } = await through(always('eth_getLogs', shuffled))
    expect(state.errors).toEqual(NO_ERRORS)
  })
})

describe('an invalid response', () => {
  it.for([
    ['unreachable', 'cut off', { kind: 'cut' }],
    ['unreachable', '502', reply(502, '<html>Bad Gateway')],
    ['invalid', 'no JSON', reply(200, '<html>')],
    ['invalid', 'neither result nor error', reply(200, '{"jsonrpc":"2.0","id":1}')],
    ['refused', 'a method that it does not have', error('Method not found', -32_601)],
    ['overload', '429', reply(429)],
    ['overload', '503', reply(503)],
    ['overload', 'the words of the node', error('overloaded, try again later', -32_601)],
    ['overload', 'a code', error('Please slow down', -32_005)],
    ['invalid', 'an index of more bits', changedList((all) => [logWith(all[0], { transactionIndex: '0x100000000' })])],
    ['invalid', 'a log that is no longer there', changedList((all) => [logWith(all[0], { removed: true })])],
    ['invalid', 'a topic that is too short', changedList((all) => [logWith(all[0], { topics: ['0x12'] })])],
    [
      'invalid',
      'five topics',
      changedList((all) => [logWith(all[0], { topics: Array.from({ length: 5 }, () => HASH) })]),
    ],
    [
      'invalid',
      'a log of a block that was not asked for',
      changedList((all) => [logWith(all[0], { blockNumber: '0x99' })]),
    ],
    ['invalid', 'half a byte', changedList((all) => [logWith(all[0], { data: '0x123' })])],
  ] as const)('is counted as %s, and asked for again: %s', async ([kind, , fault], { through }) => {
    const { state, waits } = await through(once('eth_getLogs', fault))
    expect(state.errors).toEqual({ ...NO_ERRORS, [kind]: 1 })
    expect(waits[0]).toBe(1000)
    expect(state.trouble).toBe(null)
  })

  // The first header is that of the newest block, the second that of block 0.
  it.for<[string, number, RpcFault, object]>([
    ['that is missing', 1, result(null), { incomplete: 1 }],
    ['that is missing: the blocks before it are read first, and it is not counted', 5, result(null), {}],
    ['of another block', 5, changed({ number: '0x7' }), { invalid: 1 }],
    ['of a time that cannot be', 5, changed({ timestamp: '0x18bcfe56800' }), { invalid: 1 }],
    ['that does not follow', 5, changed({ parentHash: HASH }), { unlinked: 1 }],
  ])('is counted and retried: a header %s', async ([, nth, fault, errors], { through }) => {
    const { state } = await through((call) =>
      call.method === 'eth_getBlockByNumber' && call.nth === nth ? fault : undefined,
    )
    expect(state.errors).toEqual({ ...NO_ERRORS, ...errors })
  })

  it('is retried with growing delays, up to a minute, and after the Retry-After of the node', async ({ through }) => {
    const { waits, state } = await through((call) =>
      call.method === 'eth_getLogs' && call.nth < 9
        ? reply(429, '', call.nth === 8 ? { 'retry-after': '120' } : {})
        : undefined,
    )
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 120].map((seconds) => seconds * 1000))
    expect(state.errors).toEqual({ ...NO_ERRORS, overload: 9 })
  })

  it('times out, and the next request is smaller', async ({ startNode }) => {
    const clock = jumpingClock()
    const from = await startNode({ height: 40, faults: once('eth_getLogs', { kind: 'hang' }) })
    const { appended, store } = watchedStore()
    const running = ingestUntil({ node: from, store, clock }, has(40))
    while (!from.seen.some(({ method }) => method === 'eth_getLogs')) {
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    clock.expire()
    const { state } = await running
    expect(state.errors).toEqual({ ...NO_ERRORS, unreachable: 1 })
    expect(appended[0]).toHaveLength(4)
    expect(appended.flat()).toHaveLength(41)
  })

  it('is described in the state until it is resolved', async ({ startNode }) => {
    const from = await startNode({ height: 40, faults: always('eth_getLogs', reply(429)) })
    const { store } = watchedStore()
    const { state } = await ingestUntil({ node: from, store }, ({ errors }) => errors.overload === 3)
    expect(state.trouble).toBe(`could not call eth_getLogs at ${from.url}: the node is overloaded (429)`)
    expect(state.nodeHeight).toBe(40)
    expect(state.indexed).toBe(null)
  })
})

it('the logged line has the error message of the node and the advice', async ({ startNode }) => {
  const from = await startNode({
    height: 40,
    faults: always('eth_getLogs', error('history is gone')),
  })
  const run = (fromBlock: number) =>
    ingestUntil({ node: from, store: watchedStore().store, fromBlock }, ({ trouble }) => Boolean(trouble))
  expect((await run(0)).state.trouble).toContain('the node returned an error: history is gone')
  from.faults = ({ params }) => (params[0] === '0x0' ? result(null) : undefined)
  expect((await run(0)).state.trouble).toContain('--from-block')
})

const logWith = (value: unknown, values: object): unknown =>
  typeof value === 'object' && value !== null ? { ...value, ...values } : value
const addressOf = (log: unknown): string =>
  typeof log === 'object' && log !== null && 'address' in log ? String(log.address) : ''
