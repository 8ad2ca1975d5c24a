import { describe, expect } from 'vitest'
import { hex, type RpcFault, type RpcFaults, type RpcLog, type RpcNode } from '../../support/rpc-node.ts'
import {
  callsOf,
  changed,
  changedList,
  has,
  ingestUntil,
  ingestWhole,
  it as ingestTest,
  NO_ERRORS,
  refused,
  result,
  type StartNode,
  watchedStore,
} from './fixtures.ts'

const cut = changedList((all) => all.slice(0, -1))

/** Of blocks 0...7 the last has three logs, in two transactions, and one transaction without. */
const startFull = (startNode: StartNode) => async (faults: RpcFaults) => {
  const from = await startNode({ height: 7 })
  from.faults = (call) =>
    faults(call) ??
    (call.method === 'eth_getBlockByNumber'
      ? changed({ logsBloom: Number(call.params[0]) % 4 === 0 ? null : `0x${'f'.repeat(512)}` })
      : undefined)
  return from
}
const it = ingestTest.extend('full', ({ startNode }) => startFull(startNode))

describe('the end of a block with a full bloom filter', () => {
  it('is verified by the last receipts, and all receipts are read if logs are missing', async ({ full }) => {
    const from = await full(({ method, nth }) => (method === 'eth_getLogs' && nth === 0 ? cut : undefined))
    const { state } = await ingestWhole(from)
    expect(state.errors.incomplete).toBe(1)
    expect(callsOf(from, 'eth_getBlockReceipts').map(({ params }) => params)).toEqual([['0x7']])
  })

  it('may be within a transaction', async ({ full }) => {
    const logs = ({ method, nth }: { method: string; nth: number }): RpcFault | undefined =>
      method === 'eth_getLogs' && nth === 0 ? changedList((all) => all.slice(0, -2)) : undefined
    const { state } = await ingestWhole(await full(logs))
    expect(state.errors.incomplete).toBe(1)
  })

  it('costs one small request if nothing is missing', async ({ full }) => {
    const from = await full(() => undefined)
    const { state } = await ingestWhole(from)
    expect(state.errors).toEqual(NO_ERRORS)
    // Block 4 has no filter and no logs, and so the receipts of all of its transactions are read; of the others, from
    // the transaction with the last log on.
    const skipped = [0, 0, 0, 1, 0, 0, 0, 1]
    expect(callsOf(from, 'eth_getTransactionReceipt').map(({ params }) => params[0])).toEqual(
      skipped.flatMap((first, block) => from.chain.transactions(block).slice(first)),
    )
    expect(callsOf(from, 'eth_getBlockReceipts')).toEqual([])
  })

  it('is verified by the receipts of the block where the node has no index of transactions', async ({ full }) => {
    const from = await full(({ method, nth }) => {
      if (method === 'eth_getTransactionReceipt') return nth % 2 === 0 ? result(null) : refused('Method not found')
      return method === 'eth_getLogs' && nth === 0 ? cut : undefined
    })
    const { state, warnings } = await ingestWhole(from)
    expect({ warnings, incomplete: state.errors.incomplete }).toEqual({ warnings: [], incomplete: 1 })
  })

  it('is taken as it came where the node refuses all receipts, and a warning reports it once', async ({ full }) => {
    const from = await full(({ method }) => (/Receipts?$/.test(method) ? refused('Method not found') : undefined))
    from.chain.setHeight(3)
    const { store } = watchedStore()
    const { warnings } = await ingestUntil({ node: from, store }, ({ indexed }) => {
      if (indexed === 3) from.chain.setHeight(7)
      return indexed === 7
    })
    expect(warnings).toEqual([
      'the node does not return receipts: not all logs that are missing at the end of a block can be detected',
    ])
  })
})

describe('logs of the chain itself, after all transactions', () => {
  const own = (from: RpcNode, before: RpcLog): RpcLog => ({
    ...before,
    logIndex: hex(Number(before.logIndex) + 1),
    transactionIndex: hex(from.chain.transactions(3).length),
    transactionHash: from.chain.hash(3),
  })
  const withOwn = (from: RpcNode): RpcFaults => {
    const last = from.chain.rpcLogs(3).at(-1)
    if (last === undefined) throw new Error('block 3 has logs')
    const more = own(from, last)
    return ({ method, params }) => {
      if (method === 'eth_getBlockReceipts') {
        const right = from.chain.receipts(Number(params[0]))
        const receipt = { ...right[0], transactionHash: more.transactionHash, logs: [more] }
        return result(Number(params[0]) === 3 ? [...right, receipt] : right)
      }
      if (method !== 'eth_getLogs') return undefined
      return {
        kind: 'result',
        change: (right) =>
          (Array.isArray(right) ? right : []).flatMap((log: RpcLog) =>
            log.blockNumber === '0x3' && log.logIndex === last.logIndex ? [log, more] : [log],
          ),
      }
    }
  }

  it('are kept', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    from.faults = withOwn(from)
    const { appended, store } = watchedStore()
    const { state } = await ingestUntil({ node: from, store }, has(20))
    expect(appended.flat().map(({ logCount }) => logCount)).toEqual(
      Array.from({ length: 21 }, (_, at) => (at === 3 ? 4 : at % 4)),
    )
    expect(state.errors).toEqual(NO_ERRORS)
  })

  it('are kept if all logs are read from receipts', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const faults = withOwn(from)
    from.faults = (call) => (call.method === 'eth_getLogs' ? refusedAsTooMuch : faults(call))
    const { appended, store } = watchedStore()
    await ingestUntil({ node: from, store }, has(20))
    expect(appended.flat()[3]?.logs.at(-1)).toMatchObject({ logIndex: 3, transactionIndex: 3 })
  })

  const refusedAsTooMuch = refused('response exceeds size limit')
})
