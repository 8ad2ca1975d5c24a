import { keccak_256 } from '@noble/hashes/sha3.js'
import { type StoredLog } from '../../store/store.ts'

/** Above so many of its 2,048 bits a filter says yes to most, and takes long to check. */
const MOST_BITS = 1400

/** Whether the filter can tell that a log is missing. */
export const canTell = (bloom: string | null): boolean =>
  bloom !== null && !/^0*$/.test(bloom) && bitsIn(Buffer.from(bloom, 'hex')) <= MOST_BITS

/**
 * Whether these logs are all that the header's filter knows of. Each address and topic of a block sets three bits there, so
 * a bit that no log accounts for is of a log that is missing. True where the filter can not tell.
 */
export const accountsFor = (bloom: string | null, logs: readonly StoredLog[]): boolean => {
  if (bloom === null || /^0*$/.test(bloom)) return true
  if (logs.length === 0) return false
  const told = Buffer.from(bloom, 'hex')
  if (bitsIn(told) > MOST_BITS) return true
  const made = Buffer.alloc(told.length)
  const values = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))
  for (const value of values) {
    const hash = keccak_256(Buffer.from(value.slice(2), 'hex'))
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
      const byte = made.length - 1 - (bit >> 3)
      made[byte] = (made[byte] ?? 0) | (1 << (bit & 7))
    }
  }
  return told.every((byte, index) => (byte & ~(made[index] ?? 0)) === 0)
}

const bitsIn = (bytes: Buffer): number => {
  let bits = 0
  for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) bits += 1
  return bits
}
