import type { RpcFault, RpcFaults, RpcLog } from '../../support/rpc-node.ts'
import { changedList } from './fixtures.ts'

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
