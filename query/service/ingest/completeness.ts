import { createLogFilter } from '../../log-fields.ts'
import type { Block, Filter, StoredLog } from '../../store/store.ts'
import { IngestError, NodeRejectedError, NodeTimeoutError, TooLargeError } from './errors.ts'
import { type FullHeader, list, type LogGroup, parseReceipt, parseResult, type Receipt } from './parse.ts'
import { type Call, createBatchSizer, type Rpc } from './rpc.ts'
import { keccak_256 } from '@noble/hashes/sha3.js'

/** The logs that the node returned for a block. */
export interface BlockLogs {
  /** Ordered by logIndex. */
  readonly logs: readonly StoredLog[]
  /** Some logs belong to another block with this number. */
  readonly isMixed: boolean
}

/** Why these cannot be exactly the logs of the block; null if they can. */
export const findFlaw = (head: FullHeader, { logs, isMixed }: BlockLogs): string | null => {
  if (isMixed) return 'a log belongs to another block with that number'
  let transaction = -1
  for (const [index, log] of logs.entries()) {
    if (log.logIndex !== index) {
      return isNumberedByTransaction(logs) ? NUMBERED_BY_TRANSACTION : `log ${index} is missing or duplicated`
    }
    if (log.transactionIndex < transaction) return 'logs are not in transaction order'
    transaction = log.transactionIndex
    // Logs of the chain itself come after all transactions and belong to none of them.
    const isListed = transaction < head.transactions.length
    if (isListed && log.transactionHash !== head.transactions[transaction]) {
      return 'a log belongs to a transaction that is not in the block'
    }
  }
  return null
}

const NUMBERED_BY_TRANSACTION =
  'logIndex begins again at 0 in each transaction, so it is not the position of a log in its block, which JSON-RPC defines it to be'

/** Whether each of at least two transactions numbers its own logs from 0 on. */
const isNumberedByTransaction = (logs: readonly StoredLog[]): boolean => {
  const counts = new Map<number, number>()
  // Ordered by logIndex, so those of one transaction are as well.
  for (const { transactionIndex, logIndex } of logs) {
    const count = counts.get(transactionIndex) ?? 0
    if (logIndex !== count) return false
    counts.set(transactionIndex, count + 1)
  }
  return counts.size > 1
}

/** Logs by block number; null if a log belongs to none of these blocks. */
export const groupByBlock = (
  heads: readonly FullHeader[],
  groups: readonly LogGroup[],
): ReadonlyMap<number, BlockLogs> | null => {
  const parts = new Map<number, LogGroup[]>(heads.map(({ number }) => [number, []]))
  for (const group of groups) {
    const part = parts.get(group.block)
    if (part === undefined) return null
    part.push(group)
  }
  return new Map(
    heads.map(({ number, hash }) => {
      const part = parts.get(number) ?? []
      return [number, { logs: joined(part), isMixed: part.some((group) => group.blockHash !== hash) }]
    }),
  )
}

const joined = (groups: readonly LogGroup[]): readonly StoredLog[] => {
  const [first, ...others] = groups
  if (first === undefined) return []
  const logs = others.length === 0 ? first.logs : groups.flatMap((group) => group.logs)
  return logs.every(({ logIndex }, index) => logIndex === index)
    ? logs
    : logs.toSorted((one, other) => one.logIndex - other.logIndex)
}

export const blockOf = (head: FullHeader, logs: readonly StoredLog[], isInScope: LogPredicate | null): Block => ({
  number: head.number,
  hash: head.hash,
  parentHash: head.parentHash,
  timestamp: head.timestamp,
  logCount: logs.length,
  logs: isInScope === null ? logs : logs.filter(isInScope),
})

export type LogPredicate = (log: StoredLog) => boolean

/** A predicate for logs in the scope; null if the scope is everything. */
export const createScopeFilter = (scope: Filter): LogPredicate | null =>
  [scope.addresses, ...scope.topics].every((values) => values.length === 0) ? null : createLogFilter(scope)

/** A receipt of a busy block has about 4 kB: 514 characters for its filter, and its logs. */
const RESPONSE_CHARACTERS = 4_000_000

/** Reads the receipts of these transactions, in their order. */
const createSingleReceiptReader = (rpc: Rpc) => {
  const sizer = createBatchSizer({ first: 50, most: 200, characters: RESPONSE_CHARACTERS })
  return async (hashes: readonly string[], signal: AbortSignal): Promise<readonly Receipt[]> => {
    const receipts: Receipt[] = []
    while (receipts.length < hashes.length) {
      const some = hashes.slice(receipts.length, receipts.length + sizer.size())
      try {
        const { replies, size } = await rpc.many(some.map(callFor), signal)
        for (const reply of replies) {
          if ('error' in reply) throw reply.error
          if (reply.result === null)
            throw new IngestError('incomplete', {
              doing: 'read the receipts of a block',
              happened: 'the node does not have the receipt of one of its transactions',
            })
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

/** Reads the logs of a block from its receipts. There is one receipt per transaction, so a missing one is detected. */
export const createReceiptReader = (rpc: Rpc) => {
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

  return async (head: FullHeader, signal: AbortSignal): Promise<readonly LogGroup[]> => {
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
 * it. Without logs: whether no transaction has any. This is the only evidence if the header has no usable filter. Null
 * if the node does not return receipts of single transactions.
 */
export const createIsLastLog = (rpc: Rpc) => {
  const receiptsOf = createSingleReceiptReader(rpc)
  return async (head: FullHeader, logs: readonly StoredLog[], signal: AbortSignal): Promise<boolean | null> => {
    const last = logs.at(-1)
    try {
      for (let at = last?.transactionIndex ?? 0; at < head.transactions.length; at += RECEIPTS_AT_ONCE) {
        const receipts = await receiptsOf(head.transactions.slice(at, at + RECEIPTS_AT_ONCE), signal)
        const isEnd = receipts.every(({ blockHash, transactionHash, groups }, index) => {
          const lastIndex = groups.at(-1)?.logs.at(-1)?.logIndex
          const expected = at + index === last?.transactionIndex ? last.logIndex : undefined
          const isExpected = transactionHash === head.transactions[at + index]
          return isExpected && blockHash === head.hash && lastIndex === expected
        })
        if (!isEnd) return false
      }
      return true
    } catch (error) {
      // A node may have pruned its index of transactions, and still have all receipts by block.
      const isUnavailable = error instanceof IngestError && (error.kind === 'incomplete' || error.kind === 'refused')
      if (isUnavailable && !(error instanceof TooLargeError)) return null
      throw error
    }
  }
}

/** With more of its 2,048 bits set, a filter matches almost everything and is slow to check. */
const MOST_BITS = 1400

/** Whether the filter in a header is empty, as all are of a node that does not fill them in. */
export const isEmptyFilter = ({ bloom }: FullHeader): boolean => bloom !== null && /^0*$/.test(bloom)

/**
 * What the filter (logsBloom) in a header shows of these logs. Each address and topic of a block sets three bits, so a bit
 * that no log sets belongs to a missing log. A filter that does not have a log that is present is wrong, and shows nothing.
 * Absent logs never show this: a node may leave logs out of every response for a while.
 */
export const filterCoverage = (head: FullHeader, logs: readonly StoredLog[]): 'complete' | 'missing' | 'unknown' => {
  const { bloom, transactions } = head
  if (bloom === null || (isEmptyFilter(head) && logs.length > 0)) return 'unknown'
  if (logs.length === 0) return isEmptyFilter(head) ? 'complete' : 'missing'
  const filter = Buffer.from(bloom, 'hex')
  if (bitsIn(filter) > MOST_BITS) return 'unknown'
  if (isSubset(filter, bitsOf(logs))) return 'complete'
  // The filter does not have the logs of the chain itself, which belong to no transaction.
  const listed = logs.filter(({ transactionIndex }) => transactionIndex < transactions.length)
  return isSubset(bitsOf(listed), filter) ? 'missing' : 'unknown'
}

const isSubset = (bits: Buffer, of: Buffer): boolean => bits.every((byte, index) => (byte & ~(of[index] ?? 0)) === 0)

const bitsIn = (bytes: Buffer): number => {
  let bits = 0
  for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) bits += 1
  return bits
}

const BYTES = 256

const bitsOf = (logs: readonly StoredLog[]): Buffer => {
  const bits = Buffer.alloc(BYTES)
  for (const value of new Set(logs.flatMap(({ address, topics }) => [address, ...topics])))
    for (const bit of bitNumbers(value)) {
      const byte = BYTES - 1 - (bit >> 3)
      bits[byte] = (bits[byte] ?? 0) | (1 << (bit & 7))
    }
  return bits
}

/** The same contracts and event signatures recur in most blocks, and a hash takes some microseconds. */
const MOST_KNOWN = 20_000
const known = new Map<string, readonly number[]>()

const bitNumbers = (value: string): readonly number[] => {
  const before = known.get(value)
  if (before !== undefined) return before
  const hash = keccak_256(Buffer.from(value.slice(2), 'hex'))
  const bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047)
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(value, bits)
  return bits
}
