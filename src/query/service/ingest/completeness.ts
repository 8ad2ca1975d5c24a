import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Block, StoredLog } from '../../store/store.ts'
import type { LogPredicate } from './options.ts'
import type { FullHeader, LogGroup } from './parse.ts'

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
    if (log.logIndex !== index) return `log ${index} is missing or duplicated`
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

/** With more of its 2,048 bits set, a filter matches almost everything and is slow to check. */
const MOST_BITS = 1400

/** Whether the filter can show that a log is missing. */
export const isBloomUsable = (bloom: string | null): boolean =>
  bloom !== null && !/^0*$/.test(bloom) && bitsIn(Buffer.from(bloom, 'hex')) <= MOST_BITS

/**
 * Whether these logs set every bit of the filter in the header. Each address and topic of a block sets three bits, so a
 * bit that no log sets belongs to a missing log. True if the filter cannot show it.
 */
export const logsCoverBloom = (bloom: string | null, logs: readonly StoredLog[]): boolean => {
  if (bloom === null || /^0*$/.test(bloom)) return true
  if (logs.length === 0) return false
  const filterBits = Buffer.from(bloom, 'hex')
  if (bitsIn(filterBits) > MOST_BITS) return true
  const logBits = Buffer.alloc(filterBits.length)
  const values = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))
  for (const value of values) {
    const hash = keccak_256(Buffer.from(value.slice(2), 'hex'))
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
      const byte = logBits.length - 1 - (bit >> 3)
      logBits[byte] = (logBits[byte] ?? 0) | (1 << (bit & 7))
    }
  }
  return filterBits.every((byte, index) => (byte & ~(logBits[index] ?? 0)) === 0)
}

const bitsIn = (bytes: Buffer): number => {
  let bits = 0
  for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) bits += 1
  return bits
}
