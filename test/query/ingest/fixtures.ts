import { expect, test } from 'vitest'
import { createIngest, type IngestOptions } from '../../../query/service/ingest/ingest.ts'
import { type IngestState } from '../../../query/service/ingest/writer.ts'
import { type Block, type LogStore } from '../../../query/store/store.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { memoryStore } from '../../support/memory-store.ts'
import {
  type Call,
  type RpcFault,
  type RpcFaults,
  type RpcLog,
  type RpcNode,
  type RpcNodeOptions,
  startRpcNode,
} from '../../support/rpc-node.ts'

const ANY = { addresses: [], topics: [] }

interface Watched {
  /** Every append so far. */
  readonly appended: readonly (readonly Block[])[]
  readonly store: LogStore
}

/** A store that records each append. */
export const watchedStore = (store: LogStore = memoryStore()): Watched => {
  const appended: (readonly Block[])[] = []
  return {
    appended,
    store: {
      ...store,
      append: async (blocks) => {
        await store.append(blocks)
        appended.push(blocks)
      },
    },
  }
}

/** The same, with a function that each append calls first with its number, from 1. */
export const storeCalling = (before: (nth: number) => void): Watched => {
  const { appended, store } = watchedStore()
  let count = 0
  const append: LogStore['append'] = async (blocks) => {
    count += 1
    before(count)
    await store.append(blocks)
  }
  return { appended, store: { ...store, append } }
}

interface Ran {
  readonly state: IngestState
  readonly notices: readonly string[]
  readonly warnings: readonly string[]
  readonly waits: readonly number[]
  readonly error: unknown
}

type Given = Partial<IngestOptions> & {
  readonly node: RpcNode
  readonly store: LogStore
  readonly clock?: ReturnType<typeof jumpingClock>
}

/** Runs the ingest until its state satisfies the predicate or it stops; fails after a hundred waits. */
export const ingestUntil = async (
  { node, clock = jumpingClock(), ...options }: Given,
  satisfies: (state: IngestState) => boolean,
): Promise<Ran> => {
  const stop = new AbortController()
  const notices: string[] = []
  const warnings: string[] = []
  const ingest = createIngest({
    rpcUrl: node.url,
    scope: ANY,
    fromBlock: 0,
    retention: { blocks: null, bytes: null },
    clock: {
      ...clock,
      sleep: async (ms, signal) => {
        // Between two steps only: nothing is under way then.
        if (ms !== 30_000 && (satisfies(ingest.state()) || clock.waits.length > 100)) stop.abort()
        await clock.sleep(ms, signal)
      },
    },
    notice: (line) => notices.push(line),
    warn: (line) => warnings.push(line),
    ...options,
  })
  const error = await ingest.run(stop.signal).catch((thrown: unknown) => thrown)
  return { state: ingest.state(), notices, warnings, waits: clock.waits, error }
}

/** A node with a chain computed from block numbers; closed after the test. */
export type StartNode = (options?: RpcNodeOptions) => Promise<RpcNode>

export const it = test.extend('startNode', ({ onTestFinished }): StartNode =>
  async (options) => {
    const node = await startRpcNode(options)
    onTestFinished(node.close)
    return node
  })

/** Checks that the last block of the node is indexed and that every block equals that of the node. */
export const ingestWhole = async (node: RpcNode, options: Pick<Given, 'clock'> = {}): Promise<Ran & Watched> => {
  const { appended, store } = watchedStore()
  const { height, block } = node.chain
  const ran = await ingestUntil({ node, store, ...options }, has(height))
  expect(appended.flat()).toEqual(to(height).map(block))
  return { ...ran, appended, store }
}

/** The numbers from `first` to `last`. */
export const to = (last: number, first = 0): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

export const has =
  (block: number) =>
  ({ indexed }: IngestState): boolean =>
    indexed === block

export const callsOf = (node: RpcNode, method: string): readonly Call[] =>
  node.seen.filter((call) => call.method === method)

export const NO_ERRORS: IngestState['errors'] = {
  unreachable: 0,
  overload: 0,
  refused: 0,
  incomplete: 0,
  unlinked: 0,
  invalid: 0,
  store: 0,
}

export const result = (value: unknown): RpcFault => ({ kind: 'result', change: () => value })

/** The right result with these values in it. */
export const changed = (values: object): RpcFault => ({
  kind: 'result',
  change: (right) => (typeof right === 'object' && right !== null ? { ...right, ...values } : right),
})

/** The right result, a list, changed. */
export const changedList = (change: (all: readonly unknown[]) => readonly unknown[]): RpcFault => ({
  kind: 'result',
  change: (right) => (Array.isArray(right) ? change(right) : right),
})

export const refused = (message: string, code = -32_601): RpcFault => ({
  kind: 'error',
  code,
  message,
})

/** What a response has of the logs of a block or a receipt. */
export type Cut = (logs: readonly RpcLog[]) => readonly RpcLog[]

const logsWith = (cut: Cut): RpcFault => changedList((logs) => cut(logs.filter(isLog)))
const isLog = (log: unknown): log is RpcLog => typeof log === 'object' && log !== null && 'logIndex' in log

const receiptWith = (cut: Cut | null, receipt: unknown): unknown => {
  if (typeof receipt !== 'object' || receipt === null || !('logs' in receipt) || !Array.isArray(receipt.logs))
    return receipt
  return { ...receipt, logs: cut === null ? null : cut(receipt.logs.filter(isLog)) }
}

/** Cuts the logs in eth_getLogs. */
export const inLogs =
  (cut: Cut): RpcFaults =>
  ({ method }) =>
    method === 'eth_getLogs' ? logsWith(cut) : undefined

/** Cuts the logs in receipts; null: their logs are null. */
export const inReceipts =
  (cut: Cut | null): RpcFaults =>
  ({ method }) => {
    if (!method.endsWith('Receipt') && !method.endsWith('Receipts')) return undefined
    const change = (right: unknown): unknown =>
      Array.isArray(right) ? right.map((receipt) => receiptWith(cut, receipt)) : receiptWith(cut, right)
    return { kind: 'result', change }
  }

export const inBoth =
  (cut: Cut): RpcFaults =>
  (call) =>
    inLogs(cut)(call) ?? inReceipts(cut)(call)

export const without =
  (isMissing: (log: RpcLog) => boolean): Cut =>
  (logs) =>
    logs.filter((log) => !isMissing(log))

export const isOf =
  (...blocks: readonly number[]) =>
  ({ blockNumber }: RpcLog): boolean =>
    blocks.includes(Number(blockNumber))
