import { createCipheriv } from 'node:crypto'

/** A member of the set of validators of an epoch. */
export interface SetMember {
  /** The compressed secp public key: 66 hex digits in lower case. */
  readonly secpKey: string
  /** In wei. */
  readonly stake: bigint
}

/** The leaders of all rounds of an epoch. */
export type LeaderSchedule = ReturnType<typeof createLeaderSchedule>

/**
 * The leader schedule of consensus: each round draws a member at random, by stake, from a generator whose seed is the
 * number of the round. About 20 µs a round.
 */
export const createLeaderSchedule = (members: readonly SetMember[]) => {
  const sorted = members.filter(({ stake }) => stake > 0n).toSorted((a, b) => (a.secpKey < b.secpKey ? -1 : 1))
  let total = 0n
  const ends = sorted.map(({ stake }) => (total += stake))
  return {
    /** The public key of the leader; undefined if no member has stake. */
    leader: (round: bigint): string | undefined => {
      if (total === 0n) return undefined
      const drawn = draw(round, total)
      let [low, high] = [0, ends.length - 1]
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((ends[middle] ?? 0n) > drawn) high = middle
        else low = middle + 1
      }
      return sorted[low]?.secpKey
    },
  }
}

const MASK_64 = 2n ** 64n - 1n
const MAX_256 = 2n ** 256n - 1n
const ZEROS = Buffer.alloc(96)
/** A 64-bit counter and a 64-bit stream, both 0. */
const NONCE = Buffer.alloc(16)

/** A uniform integer below `total`: draws of 256 bits, without those that would make small results more likely. */
export const draw = (round: bigint, total: bigint): bigint => {
  const highest = MAX_256 - ((MAX_256 - total + 1n) % total)
  const cipher = createCipheriv('chacha20', seedOf(round), NONCE)
  for (;;) {
    const stream = cipher.update(ZEROS)
    for (let at = 0; at < stream.length; at += 32) {
      const drawn = littleEndian(stream, at)
      if (drawn <= highest) return drawn % total
    }
  }
}

const littleEndian = (bytes: Buffer, at: number): bigint =>
  bytes.readBigUInt64LE(at) |
  (bytes.readBigUInt64LE(at + 8) << 64n) |
  (bytes.readBigUInt64LE(at + 16) << 128n) |
  (bytes.readBigUInt64LE(at + 24) << 192n)

/** The key that a 64-bit seed stands for: eight outputs of a PCG32, as `seed_from_u64` of Rust's rand_core 0.6. */
const seedOf = (round: bigint): Buffer => {
  const seed = Buffer.alloc(32)
  let state = round & MASK_64
  for (let at = 0; at < seed.length; at += 4) {
    state = (state * 6_364_136_223_846_793_005n + 11_634_580_027_462_260_723n) & MASK_64
    const mixed = Number((((state >> 18n) ^ state) >> 27n) & 0xffff_ffffn)
    const by = Number(state >> 59n)
    seed.writeUInt32LE(((mixed >>> by) | (mixed << (32 - by))) >>> 0, at)
  }
  return seed
}
