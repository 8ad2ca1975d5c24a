import { readFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { hex, type RpcFaults, type RpcLog, type RpcNode } from '../../support/rpc-node.ts'
import { callsOf, changed, has, ingestUntil, it, NO_ERRORS, refused, result, to, watchedStore } from './fixtures.ts'

const MINUTE = 60_000
const FULL = `0x${'f'.repeat(512)}`
const EMPTY = `0x${'0'.repeat(512)}`

/** What is left of the logs of a block. */
type Cut = (logs: readonly RpcLog[], block: number) => readonly RpcLog[]

const LOGS: readonly string[] = ['eth_getLogs']
const LOGS_AND_RECEIPTS: readonly string[] = [...LOGS, 'eth_getBlockReceipts', 'eth_getTransactionReceipt']

/** Cuts the logs of every block in the responses to these methods. */
const cutting =
  (cut: Cut, methods: readonly string[]): RpcFaults =>
  ({ method }) => {
    if (!methods.includes(method)) return undefined
    const byBlock = (logs: readonly RpcLog[]): readonly RpcLog[] => {
      const blocks = Map.groupBy(logs, ({ blockNumber }) => Number(blockNumber))
      return [...blocks].flatMap(([block, of]) => cut(of, block))
    }
    const withoutSome = (receipt: { readonly logs: readonly RpcLog[] }) => ({ ...receipt, logs: byBlock(receipt.logs) })
    return {
      kind: 'result',
      change: (right: any) =>
        method === 'eth_getLogs' ? byBlock(right) : Array.isArray(right) ? right.map(withoutSome) : withoutSome(right),
    }
  }

const none: Cut = () => []
const noneOf =
  (block: number): Cut =>
  (logs, of) =>
    of === block ? [] : logs
/** Without the logs of the second transaction, and of those after it. */
const firstTransactionOf =
  (block: number): Cut =>
  (logs, of) =>
    of === block ? logs.filter(({ transactionIndex }) => transactionIndex === '0x0') : logs
const withHeaders =
  (values: object, faults: RpcFaults = () => undefined): RpcFaults =>
  (call) =>
    call.method === 'eth_getBlockByNumber' && call.params[0] !== 'finalized' ? changed(values) : faults(call)

/** Of 41 blocks, block 3 has three logs in two transactions, as blocks 7, 11, … */
interface Way {
  readonly faults: RpcFaults | ((node: RpcNode) => RpcFaults)
  /** Number of failed steps; until then nothing incomplete is stored. */
  readonly incomplete?: number
  readonly unlinked?: number
  readonly nonsense?: number
  readonly unreachable?: number
  readonly refused?: number
  /** How long the node is like this. Forever by default. */
  readonly lasts?: number
  /** The last block that is stored while the node is like this; all by default. */
  readonly stopsAt?: number | null
}

/** The first column of the table in docs/reference/query-service.md. */
const WAYS: Readonly<Record<string, Way>> = {
  '`eth_getLogs` leaves out a log within a block': {
    faults: cutting((logs, block) => (block === 7 ? logs.toSpliced(1, 1) : logs), LOGS),
    incomplete: 1,
  },
  '`eth_getLogs` leaves out logs at the end of a block, also in the middle of a range': {
    faults: cutting(firstTransactionOf(3), LOGS),
    incomplete: 1,
  },
  '`eth_getLogs` has a limit on the number of logs and returns no error': {
    // The rest of each response: of blocks 0 to 7, blocks 6 (its last log) and 7.
    faults: ({ method, nth }) =>
      method === 'eth_getLogs' && nth === 0 ? { kind: 'result', change: (all: any) => all.slice(0, 8) } : undefined,
    incomplete: 2,
  },
  '`eth_getLogs` returns an empty list, because its index is not ready or the block hash is unknown to it': {
    faults: cutting(none, LOGS),
    lasts: 1,
    incomplete: 6,
  },
  '`eth_getLogs` returns null': {
    faults: ({ method }) => (method === 'eth_getLogs' ? result(null) : undefined),
    lasts: 4000,
    incomplete: 3,
    stopsAt: null,
  },
  'a block has no logs, in `eth_getLogs` and in its receipts, for a while': {
    faults: cutting(noneOf(7), LOGS_AND_RECEIPTS),
    lasts: 8000,
    incomplete: 4,
    stopsAt: 6,
  },
  'a block has a part of its logs in both, for a while': {
    faults: cutting(firstTransactionOf(3), LOGS_AND_RECEIPTS),
    lasts: 8000,
    incomplete: 4,
    stopsAt: 2,
  },
  'the node has pruned logs and receipts, and still has the headers': {
    faults: cutting((logs, block) => (block < 10 ? [] : logs), LOGS_AND_RECEIPTS),
    stopsAt: 0,
  },
  'the node has pruned the block, or does not have it yet': {
    faults: ({ params }) => (Number(params[0]) === 5 ? result(null) : undefined),
    stopsAt: 4,
  },
  'the node restarts: no connection, then blocks without logs, for a while': {
    faults: (call) =>
      call.nth === 0 && call.method === 'eth_getLogs' ? { kind: 'cut' } : cutting(none, LOGS_AND_RECEIPTS)(call),
    lasts: 8000,
    unreachable: 1,
    incomplete: 3,
    stopsAt: 0,
  },
  'a balancer in front of nodes of different height: the lower one cuts the range at its own height': {
    faults: (call) => {
      if (call.method === 'eth_getBlockReceipts' && Number(call.params[0]) > 5) return result(null)
      if (call.method === 'eth_getTransactionReceipt') return result(null)
      return cutting((logs, block) => (block > 5 ? [] : logs), LOGS)(call)
    },
    lasts: 4000,
    incomplete: 3,
    stopsAt: 5,
  },
  'a balancer in front of nodes of different forks: logs of another block with that number': {
    faults: cutting(
      (logs, block) => (block === 3 ? logs.map((log) => ({ ...log, blockHash: `0x${'ab'.repeat(32)}` })) : logs),
      LOGS,
    ),
    incomplete: 1,
  },
  'receipts are missing, or are null': {
    faults: withHeaders({ logsBloom: FULL }, ({ method }) =>
      method === 'eth_getTransactionReceipt' || method === 'eth_getBlockReceipts' ? result(null) : undefined,
    ),
    lasts: 4000,
    incomplete: 3,
    stopsAt: null,
  },
  'the logs of a receipt are null': {
    faults: (call) =>
      call.method === 'eth_getBlockReceipts'
        ? { kind: 'result', change: (all: any) => all.map((one: object) => ({ ...one, logs: null })) }
        : cutting(noneOf(3), LOGS)(call),
    lasts: 4000,
    nonsense: 3,
    stopsAt: 2,
  },
  'a header has no filter, or a full one (over 1,400 of 2,048 bits)': {
    faults: ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber' || params[0] === 'finalized') return cutting(noneOf(3), LOGS)(callOf(method, params))
      return changed({ logsBloom: Number(params[0]) % 2 === 0 ? FULL : null })
    },
    // Blocks 0, 4, 8, … have no logs, which a full filter contradicts until the receipts are read.
    incomplete: 1,
    stopsAt: null,
  },
  'the filters of all headers are empty': {
    faults: withHeaders({ logsBloom: EMPTY }, cutting(noneOf(7), LOGS)),
    incomplete: 1,
  },
  '`logIndex` begins again in each transaction': {
    faults: cutting((logs) => {
      const seen = new Map<string, number>()
      return logs.map((log) => {
        const index = seen.get(log.transactionHash) ?? 0
        seen.set(log.transactionHash, index + 1)
        return { ...log, logIndex: hex(index) }
      })
    }, LOGS_AND_RECEIPTS),
    stopsAt: 2,
  },
}
