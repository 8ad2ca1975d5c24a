import { type StoredLog } from '../../store/store.ts'
import { IngestError, RefusedError } from './errors.ts'
import { type Head } from './parse.ts'
import { createSingleReceipts } from './receipts.ts'
import { type Rpc } from './rpc.ts'

/** At a time: of a busy block, the last transactions have logs, and the first answer tells. */
const SOME = 20

/**
 * Whether the last of these logs is the last of its block: its transaction has none after it, nor have those behind. Of a block
 * with so many logs that the filter in its header is full, nothing else tells. Null where the node does not give the receipts.
 */
export type EndsThere = (
  head: Head,
  logs: readonly StoredLog[],
  signal: AbortSignal,
) => Promise<boolean | null>

export const createEndsThere = (rpc: Rpc): EndsThere => {
  const receiptsOf = createSingleReceipts(rpc)
  return async (head, logs, signal) => {
    const last = logs.at(-1)
    if (last === undefined) return null
    try {
      for (let at = last.transactionIndex; at < head.transactions.length; at += SOME) {
        const receipts = await receiptsOf(head.transactions.slice(at, at + SOME), signal)
        const isEnd = receipts.every(({ blockHash, transactionHash, runs }, index) => {
          const own = runs.at(-1)?.logs.at(-1)?.logIndex
          const expected = at + index === last.transactionIndex ? last.logIndex : undefined
          const isIt = transactionHash === head.transactions[at + index]
          return isIt && blockHash === head.hash && own === expected
        })
        if (!isEnd) return false
      }
      return true
    } catch (error) {
      const isWithout =
        error instanceof RefusedError || (error instanceof IngestError && error.kind === 'nonsense')
      if (isWithout) return null
      throw error
    }
  }
}
