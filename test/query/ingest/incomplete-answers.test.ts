import { readFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { hex, type RpcFaults, type RpcLog } from '../../support/rpc-node.ts'
import {
  changed,
  type Cut,
  has,
  inBoth,
  ingestUntil,
  ingestWhole,
  inLogs,
  inReceipts,
  isOf,
  it,
  NO_ERRORS,
  result,
  to,
  watchedStore,
  without,
} from './fixtures.ts'

const MINUTE = 60_000
const FULL = { logsBloom: `0x${'f'.repeat(512)}` }
const EMPTY = { logsBloom: `0x${'0'.repeat(512)}` }
/** A quarter of the bits: some that no log sets, and not all that a log sets. */
const WRONG = { logsBloom: `0x${'1'.repeat(512)}` }

const noReceipts: RpcFaults = ({ method }) => (/Receipts?$/.test(method) ? result(null) : undefined)

/** Changes the header of each block; undefined leaves it as it is. */
const inHeaders =
  (valuesOf: (block: number) => object | undefined): RpcFaults =>
  ({ method, params }) => {
    const values =
      method === 'eth_getBlockByNumber' && params[0] !== 'finalized' ? valuesOf(Number(params[0])) : undefined
    return values && changed(values)
  }

const all =
  (...faults: readonly RpcFaults[]): RpcFaults =>
  (call) =>
    faults.map((each) => each(call)).find((fault) => fault !== undefined)

const isBehind =
  (block: number) =>
  ({ blockNumber }: RpcLog): boolean =>
    Number(blockNumber) > block

/** Blocks 3, 7, 11 … have three logs, the last of them in the second transaction. */
const isSecondTransactionOf =
  (block: number) =>
  (log: RpcLog): boolean =>
    isOf(block)(log) && log.transactionIndex === '0x1'

const byTransaction: Cut = (logs) => {
  const counts = new Map<string, number>()
  return logs.map((log) => {
    const index = counts.get(log.transactionHash) ?? 0
    counts.set(log.transactionHash, index + 1)
    return { ...log, logIndex: hex(index) }
  })
}

const RANGE = z.object({ fromBlock: z.string(), toBlock: z.string() })

/** Whether the range of a filter of `eth_getLogs` has the block. */
const covers = (filter: unknown, block: number): boolean => {
  const { data } = RANGE.safeParse(filter)
  return data !== undefined && Number(data.fromBlock) <= block && block <= Number(data.toBlock)
}

interface Way {
  readonly faults: RpcFaults
  /** Failures, including those that other responses repair, if the number is certain. */
  readonly errors?: Partial<typeof NO_ERRORS>
  /** How long the node responds like this, in seconds; always by default. */
  readonly lasts?: number
  /** The last block that is stored meanwhile, null: none; all of them by default. */
  readonly stops?: { readonly at: number | null; readonly because: string }
}

/** The rows of the table in docs/reference/query-service.md. The node has blocks 0 to 40 with 0, 1, 2, 3, 0, 1 … logs. */
const WAYS: Readonly<Record<string, Way>> = {
  '`eth_getLogs` leaves out a log within a block': {
    faults: inLogs(without((log) => isOf(7)(log) && log.logIndex === '0x1')),
    errors: { incomplete: 1 },
  },
  '`eth_getLogs` leaves out the last logs of a block, also in the middle of a range': {
    faults: inLogs(without(isSecondTransactionOf(3))),
    errors: { incomplete: 1 },
  },
  '`eth_getLogs` has a limit on the number of logs, and returns no error': {
    // Of the 12 logs in blocks 0 to 7, those of blocks 6 and 7 are beyond it.
    faults: (call) => (call.nth === 0 ? inLogs((logs) => logs.slice(0, 7))(call) : undefined),
    errors: { incomplete: 2 },
  },
  '`eth_getLogs` returns an empty list: its index is not ready, or the hash of the block is unknown': {
    faults: inLogs(() => []),
    // Each block with logs.
    errors: { incomplete: 30 },
  },
  '`eth_getLogs` returns null': {
    faults: ({ method }) => (method === 'eth_getLogs' ? result(null) : undefined),
    lasts: 4,
    errors: { incomplete: 3 },
    stops: { at: null, because: 'null instead of a list' },
  },
  'a block has no logs for a while, neither in `eth_getLogs` nor in its receipts': {
    faults: inBoth(without(isOf(7))),
    lasts: 8,
    errors: { incomplete: 5 },
    stops: { at: 6, because: 'logsBloom' },
  },
  'a block has a part of its logs for a while, in both': {
    faults: inBoth(without(isSecondTransactionOf(3))),
    lasts: 8,
    errors: { incomplete: 5 },
    stops: { at: 2, because: 'logsBloom' },
  },
  'the node has the header of a block, and has pruned its logs and receipts': {
    faults: all(inLogs(without(isOf(1, 2, 3))), noReceipts),
    stops: { at: 0, because: 'the node does not have the receipt of one of its transactions' },
  },
  'a node without an archive skipped the block in a statesync: it has the header alone, for ever': {
    // From monad-bft, monad-rpc/src/data: get_block is null without transactions, and get_logs fails.
    faults: ({ method, params }) => {
      if (method === 'eth_getBlockByNumber' && params[0] === '0x5') return result(null)
      return method === 'eth_getLogs' && covers(params[0], 5)
        ? { kind: 'error', code: -32603, message: 'error getting block header from triedb and archive' }
        : undefined
    },
    stops: { at: 4, because: 'the node does not have it' },
  },
  'the node has pruned the block, or does not have it yet': {
    faults: ({ params }) => (params[0] === '0x0' ? result(null) : undefined),
    stops: { at: null, because: '--from-block' },
  },
  'the node restarts: no connection, and then blocks without logs for a while': {
    faults: (call) => (call.method === 'eth_getLogs' && call.nth === 0 ? { kind: 'cut' } : inBoth(() => [])(call)),
    lasts: 8,
    errors: { unreachable: 1, incomplete: 4 },
    stops: { at: 0, because: 'logsBloom' },
  },
  'nodes of different height behind one address: a lower one ends the range at its own height': {
    faults: all(inLogs(without(isBehind(5))), (call) =>
      Number(call.params[0]) > 5 || call.method === 'eth_getTransactionReceipt' ? noReceipts(call) : undefined,
    ),
    lasts: 4,
    errors: { incomplete: 4 },
    stops: { at: 5, because: 'the node does not have the receipt of one of its transactions' },
  },
  'nodes of different forks behind one address: logs of another block with that number': {
    faults: inLogs((logs) => logs.map((log) => (isOf(3)(log) ? { ...log, blockHash: `0x${'ab'.repeat(32)}` } : log))),
    errors: { incomplete: 1 },
  },
  'a receipt is missing, or null': {
    faults: all(
      noReceipts,
      inHeaders((block) => (block % 4 === 0 ? undefined : FULL)),
    ),
    lasts: 4,
    errors: { incomplete: 4 },
    stops: { at: 0, because: 'the node does not have the receipt of one of its transactions' },
  },
  'the logs of a receipt are null': {
    faults: all(inLogs(without(isOf(3))), inReceipts(null)),
    lasts: 4,
    errors: { invalid: 4 },
    stops: { at: 2, because: 'expected logs as a list' },
  },
  'the header has no filter, or one with more than 1,400 of its 2,048 bits set': {
    faults: all(
      inLogs(without((log) => isOf(1)(log) || isSecondTransactionOf(7)(log))),
      inHeaders((block) => (block === 7 ? FULL : { logsBloom: null })),
    ),
    errors: { incomplete: 2 },
  },
  'the filters of all headers are empty': {
    faults: all(
      inLogs(without(isOf(9))),
      inHeaders(() => EMPTY),
    ),
    errors: { incomplete: 1 },
  },
  '`logIndex` begins again in each transaction': {
    faults: inBoth(byTransaction),
    stops: { at: 2, because: 'logIndex begins again at 0 in each transaction' },
  },
}

describe('a node that returns less than it has', () => {
  it.for(Object.entries(WAYS))('%s', async ([, { faults, errors, lasts, stops }], { startNode }) => {
    const node = await startNode({ height: 40 })
    const clock = jumpingClock()
    const isOver = (): boolean => lasts !== undefined && clock.elapsed() >= lasts * 1000
    node.faults = (call) => (isOver() ? undefined : faults(call))
    const { appended, store } = watchedStore()
    const meanwhile = { at: new Set<number | null>(), troubles: new Set<string>() }
    const isForever = stops !== undefined && lasts === undefined
    const { state, error } = await ingestUntil({ node, store, clock }, (seen) => {
      if (seen.trouble !== null && !isOver()) {
        meanwhile.at.add(seen.indexed)
        meanwhile.troubles.add(seen.trouble)
      }
      return isForever ? seen.phase === 'incomplete' : has(40)(seen)
    })
    expect(error).toBeUndefined()
    const last = isForever ? stops.at : 40
    expect(appended.flat()).toEqual(to(last ?? -1).map(node.chain.block))
    if (errors !== undefined) expect(state.errors).toEqual({ ...NO_ERRORS, ...errors })
    if (stops === undefined) return
    expect(meanwhile.at).toContain(stops.at)
    expect(Math.max(...[...meanwhile.at].map((block) => block ?? -1))).toBe(stops.at ?? -1)
    expect([...meanwhile.troubles]).toContainEqual(expect.stringContaining(stops.because))
    if (isForever)
      expect(state.trouble).toMatch(/^stopped before (?:block \d+|the first block), .* for more than 10 min: /)
  })

  it('in a response that ends within a block, although the filter has no other addresses and topics', async ({
    startNode,
  }) => {
    // Of seven logs of three kinds, the first three set all bits of the filter.
    const node = await startNode({ height: 40, logsIn: () => 7 })
    node.faults = inLogs((logs) => logs.slice(0, 18))
    await ingestWhole(node)
  })

  it('is described in the reference, each way in a row', async () => {
    const page = await readFile('docs/reference/query-service.md', 'utf8')
    const [, table = ''] = page.split('## When the node returns less than it has\n')
    const [section = ''] = table.split('\n## ')
    const rows = section.split('\n').filter((line) => line.startsWith('|'))
    // The first two are the heading and the line below it.
    expect(rows.slice(2).map((row) => row.split('|')[1]?.trim())).toEqual(Object.keys(WAYS))
  })
})

describe('an incomplete block', () => {
  it('is requested again each minute, and its blocks are indexed when the node has its logs', async ({ startNode }) => {
    const node = await startNode({ height: 40 })
    const clock = jumpingClock()
    const hour = 60 * MINUTE
    node.faults = (call) => (clock.elapsed() < hour ? inBoth(without(isOf(7)))(call) : undefined)
    const { appended, store } = watchedStore()
    const phases: string[] = []
    const { state, waits, warnings } = await ingestUntil({ node, store, clock }, (seen) => {
      if (phases.at(-1) !== seen.phase) phases.push(seen.phase)
      return has(40)(seen)
    })
    expect(appended.flat()).toEqual(to(40).map(node.chain.block))
    // Waiting for the first ten minutes.
    expect(phases).toEqual(['waiting', 'incomplete', 'tail'])
    expect(new Set(waits.slice(6))).toEqual(new Set([MINUTE]))
    expect({ warnings, trouble: state.trouble }).toEqual({ warnings: [], trouble: null })
  })
})

describe('a filter without logs that are present', () => {
  const inBlocksWithLogs = inHeaders((block) => (block % 4 === 0 ? undefined : WRONG))

  it.for<[string, RpcFaults]>([
    ['no log is missing', () => undefined],
    ['only eth_getLogs lacks logs', inLogs(without((log) => isOf(21)(log) || isSecondTransactionOf(23)(log)))],
  ])('is wrong, and the receipts decide: %s', async ([, faults], { startNode }) => {
    const { warnings } = await ingestWhole(await startNode({ height: 40, faults: all(inBlocksWithLogs, faults) }))
    expect(warnings).toEqual([])
  })

  it.for<[string, RpcFaults]>([
    ['absent logs', inBoth(() => [])],
    ['a part of the logs', inBoth(without(({ logIndex }) => logIndex !== '0x0'))],
  ])('is never shown by %s', async ([, faults], { startNode }) => {
    const node = await startNode({ height: 7, faults })
    const { store } = watchedStore()
    const clock = jumpingClock()
    const { state } = await ingestUntil({ node, store, clock }, () => clock.elapsed() > 80 * MINUTE)
    expect(state.trouble).toContain('incomplete for more than 10 min')
  })
})
