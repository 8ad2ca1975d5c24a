import { IngestError, LateError, RefusedError, TooLargeError } from './errors.ts'
import { list } from './fields.ts'
import { type Head, parseReceipt, type Receipt, type Run } from './parse.ts'
import { type Call, type Rpc } from './rpc.ts'
import { createSizer } from './sizer.ts'
import { understood } from './understood.ts'

/** A receipt of a busy block is some 4 kB: 514 characters for its filter, and its logs. */
const LENGTH = 4_000_000

/** The logs of a block out of its receipts, of which there is one for each transaction: none can be missing unseen. */
export type LogsByReceipts = (head: Head, signal: AbortSignal) => Promise<readonly Run[]>

/** The receipts of these transactions, in their order. */
export type SingleReceipts = (
  hashes: readonly string[],
  signal: AbortSignal,
) => Promise<readonly Receipt[]>

export const createSingleReceipts = (rpc: Rpc): SingleReceipts => {
  const sizer = createSizer({ first: 50, most: 200, characters: LENGTH })
  return async (hashes, signal) => {
    const receipts: Receipt[] = []
    while (receipts.length < hashes.length) {
      const some = hashes.slice(receipts.length, receipts.length + sizer.size())
      try {
        const { replies, size } = await rpc.many(some.map(callFor), signal)
        for (const reply of replies) {
          if ('error' in reply) throw reply.error
          receipts.push(understood('the receipt of a transaction', reply.result, parseReceipt))
        }
        sizer.came(some.length, size)
      } catch (error) {
        const isLarge = error instanceof TooLargeError
        if (isLarge || error instanceof LateError) sizer.refused(some.length)
        if (!isLarge || some.length === 1) throw error
      }
    }
    return receipts
  }
}

export const createReceipts = (rpc: Rpc): LogsByReceipts => {
  const single = createSingleReceipts(rpc)

  const whole = async ({ number }: Head, signal: AbortSignal): Promise<Receipt[] | null> => {
    const call = { method: 'eth_getBlockReceipts', params: [`0x${number.toString(16)}`] }
    try {
      const { result } = await rpc.one(call, signal)
      if (result === null) return null
      return understood('the receipts of a block', result, (value) =>
        list(value, 'receipts').map(parseReceipt),
      )
    } catch (error) {
      const canBeLess = error instanceof TooLargeError || error instanceof LateError
      if (canBeLess || error instanceof RefusedError) return null
      throw error
    }
  }

  return async (head, signal) => {
    const { transactions } = head
    const receipts = (await whole(head, signal)) ?? (await single(transactions, signal))
    // Some chains have one more, of what the chain itself did after all transactions.
    const areOfBlock =
      receipts.length >= transactions.length &&
      receipts.every(
        ({ blockHash, transactionHash }, index) =>
          blockHash === head.hash &&
          (index >= transactions.length || transactionHash === transactions[index]),
      )
    if (areOfBlock) return receipts.flatMap(({ runs }) => runs)
    throw new IngestError('incomplete', {
      doing: `read the receipts of block ${head.number}`,
      happened: 'they are not those of its transactions',
    })
  }
}

const callFor = (hash: string): Call => ({ method: 'eth_getTransactionReceipt', params: [hash] })
