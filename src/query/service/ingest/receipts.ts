import type { StoredLog } from '../../store/store.ts'
import { createBatchSizer } from './batch-size.ts'
import { IngestError, NodeRejectedError, NodeTimeoutError, TooLargeError } from './errors.ts'
import { list, parseResult } from './fields.ts'
import { type FullHeader, type LogGroup, parseReceipt, type Receipt } from './parse.ts'
import type { Call, Rpc } from './rpc.ts'

/** A receipt of a busy block has about 4 kB: 514 characters for its filter, and its logs. */
const RESPONSE_CHARACTERS = 4_000_000

/** Reads the logs of a block from its receipts. There is one receipt per transaction, so a missing one is detected. */
export type ReadLogsFromReceipts = (head: FullHeader, signal: AbortSignal) => Promise<readonly LogGroup[]>

/** Reads the receipts of these transactions, in their order. */
export type ReadReceipts = (hashes: readonly string[], signal: AbortSignal) => Promise<readonly Receipt[]>

const createSingleReceiptReader = (rpc: Rpc): ReadReceipts => {
  const sizer = createBatchSizer({ first: 50, most: 200, characters: RESPONSE_CHARACTERS })
  return async (hashes, signal) => {
    const receipts: Receipt[] = []
    while (receipts.length < hashes.length) {
      const some = hashes.slice(receipts.length, receipts.length + sizer.size())
      try {
        const { replies, size } = await rpc.many(some.map(callFor), signal)
        for (const reply of replies) {
          if ('error' in reply) throw reply.error
          receipts.push(parseResult('the receipt of a transaction', reply.result, parseReceipt))
        }
        sizer.record(some.length, size)
      } catch (error) {
        const isLarge = error instanceof TooLargeError
        if (isLarge || error instanceof NodeTimeoutError) sizer.reduce(some.length)
        if (!isLarge || some.length === 1) throw error
      }
    }
    return receipts
  }
}

export const createReceiptReader = (rpc: Rpc): ReadLogsFromReceipts => {
  const readReceipts = createSingleReceiptReader(rpc)

  const readBlockReceipts = async ({ number }: FullHeader, signal: AbortSignal): Promise<Receipt[] | null> => {
    const call = { method: 'eth_getBlockReceipts', params: [`0x${number.toString(16)}`] }
    try {
      const { result } = await rpc.one(call, signal)
      if (result === null) return null
      return parseResult('the receipts of a block', result, (value) => list(value, 'receipts').map(parseReceipt))
    } catch (error) {
      const mayShrink = error instanceof TooLargeError || error instanceof NodeTimeoutError
      if (mayShrink || error instanceof NodeRejectedError) return null
      throw error
    }
  }

  return async (head, signal) => {
    const { transactions } = head
    const receipts = (await readBlockReceipts(head, signal)) ?? (await readReceipts(transactions, signal))
    // Some chains have one more receipt, for the chain itself after all transactions.
    const areOfBlock =
      receipts.length >= transactions.length &&
      receipts.every(
        ({ blockHash, transactionHash }, index) =>
          blockHash === head.hash && (index >= transactions.length || transactionHash === transactions[index]),
      )
    if (areOfBlock) return receipts.flatMap(({ groups }) => groups)
    throw new IngestError('incomplete', {
      doing: `read the receipts of block ${head.number}`,
      happened: 'the receipts do not match its transactions',
    })
  }
}

const callFor = (hash: string): Call => ({ method: 'eth_getTransactionReceipt', params: [hash] })

/** Receipts per request: in a busy block the last transactions have logs, so the first response decides. */
const RECEIPTS_AT_ONCE = 20

/**
 * Whether the last of these logs is the last of its block: neither its transaction nor any later one has a log after
 * it. This is the only evidence if the filter in the header is full. Null if the node does not return receipts.
 */
export type IsLastLog = (head: FullHeader, logs: readonly StoredLog[], signal: AbortSignal) => Promise<boolean | null>

export const createIsLastLog = (rpc: Rpc): IsLastLog => {
  const receiptsOf = createSingleReceiptReader(rpc)
  return async (head, logs, signal) => {
    const last = logs.at(-1)
    if (last === undefined) return null
    try {
      for (let at = last.transactionIndex; at < head.transactions.length; at += RECEIPTS_AT_ONCE) {
        const receipts = await receiptsOf(head.transactions.slice(at, at + RECEIPTS_AT_ONCE), signal)
        const isEnd = receipts.every(({ blockHash, transactionHash, groups }, index) => {
          const lastIndex = groups.at(-1)?.logs.at(-1)?.logIndex
          const expected = at + index === last.transactionIndex ? last.logIndex : undefined
          const isExpected = transactionHash === head.transactions[at + index]
          return isExpected && blockHash === head.hash && lastIndex === expected
        })
        if (!isEnd) return false
      }
      return true
    } catch (error) {
      const isUnsupported =
        error instanceof NodeRejectedError || (error instanceof IngestError && error.kind === 'nonsense')
      if (isUnsupported) return null
      throw error
    }
  }
}
