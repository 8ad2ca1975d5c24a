import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Clock } from '../../../src/core/clock.ts'
import { minute } from '../../../src/core/units.ts'
import type { StoredLog } from '../../store/store.ts'
import type { FullHeader } from './parse.ts'

/** With more of its 2,048 bits set, a filter matches almost everything and is slow to check. */
const MOST_BITS = 1400

/** Filters are ignored after this number of blocks with logs that their filters do not have. */
const DISPROVING_BLOCKS = 3
/** And after this time since the first of them, in milliseconds, without a block whose logs cover its filter. */
const DISPROVED_AFTER = 30 * minute

interface HeaderFilterOptions {
  readonly clock: Clock
  /** Called when the filters are ignored from now on (true), and when they are used again (false). */
  readonly onIgnored: (isIgnored: boolean) => void
}

/**
 * Whether the filters (logsBloom) in the headers of this node can show that a log is missing. Absent logs never disprove
 * a filter: a node may leave logs out of every response for a while. Only logs that are present and that the filter
 * does not have disprove it.
 */
export const createHeaderFilters = ({ clock, onIgnored }: HeaderFilterOptions) => {
  /** Blocks that disprove their filters since the last block that confirms its filter, and the time of the first. */
  const disproved = new Set<number>()
  let disprovedSince = 0
  let isIgnored = false
  /** A block with logs had an empty filter: this node does not fill in its filters. */
  let areEmpty = false

  const ignore = (ignored: boolean): void => {
    if (isIgnored !== ignored) onIgnored(ignored)
    isIgnored = ignored
  }

  return {
    /** Compares the filter of a block with its logs, which have no gap. */
    observe: ({ number, bloom, transactions }: FullHeader, logs: readonly StoredLog[]): void => {
      if (bloom === null || logs.length === 0) return
      if (isZero(bloom)) {
        areEmpty = true
        return
      }
      const filterBits = Buffer.from(bloom, 'hex')
      if (bitsIn(filterBits) > MOST_BITS) return
      // The filter does not have the logs of the chain itself, which belong to no transaction.
      const listed = logs.filter(({ transactionIndex }) => transactionIndex < transactions.length)
      if (isSubset(filterBits, bitsOf(logs))) {
        disproved.clear()
        ignore(false)
      } else if (!isSubset(bitsOf(listed), filterBits)) {
        if (disproved.size === 0) disprovedSince = clock.elapsed()
        disproved.add(number)
        if (disproved.size >= DISPROVING_BLOCKS && clock.elapsed() - disprovedSince >= DISPROVED_AFTER) ignore(true)
      }
    },
    /** Whether the filter can show that a log is missing in a block that has others. */
    isUsable: (bloom: string | null): boolean =>
      !isIgnored && bloom !== null && !isZero(bloom) && bitsIn(Buffer.from(bloom, 'hex')) <= MOST_BITS,
    /** Whether the filter shows that the block has no logs. */
    isWithoutLogs: (bloom: string | null): boolean => !isIgnored && !areEmpty && bloom !== null && isZero(bloom),
    /**
     * Whether these logs set every bit of the filter. Each address and topic of a block sets three bits, so a bit that no
     * log sets belongs to a missing log. True if the filter cannot show it.
     */
    areCovered: (bloom: string | null, logs: readonly StoredLog[]): boolean => {
      if (isIgnored || bloom === null || isZero(bloom)) return true
      if (logs.length === 0) return false
      const filterBits = Buffer.from(bloom, 'hex')
      return bitsIn(filterBits) > MOST_BITS || isSubset(filterBits, bitsOf(logs))
    },
    isIgnored: () => isIgnored,
  }
}

const isZero = (bloom: string): boolean => /^0*$/.test(bloom)

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
