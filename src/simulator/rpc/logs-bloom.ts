import { keccak_256 } from '@noble/hashes/sha3.js'
import type { TokenEvent } from '../chain/token-events.ts'

/** The logsBloom of a block header: three bits of 2,048 for each address and topic (Ethereum yellow paper, 4.4.3). */
export const logsBloomOf = (events: readonly TokenEvent[]): string => {
  const bits = Buffer.alloc(256)
  const values = new Set(events.flatMap(({ address, topics }) => [address, ...topics]))
  for (const value of values) {
    const hash = Buffer.from(keccak_256(Buffer.from(value.slice(2), 'hex')))
    for (const at of [0, 2, 4]) {
      const bit = hash.readUInt16BE(at) % 2048
      const byte = bits.length - 1 - (bit >> 3)
      bits[byte] = (bits[byte] ?? 0) | (1 << (bit & 7))
    }
  }
  return `0x${bits.toString('hex')}`
}
