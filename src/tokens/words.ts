import { type Tally } from './tally.ts'

/** 32 bytes as hex digits. */
const WORD = 64

/** Twenty zero bytes: who gives at a mint, who gets at a burn. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** The bytes of some hex digits. */
export const sizeOf = (digits: string): number => digits.length / 2

/** The 32 bytes from this one on. */
export const wordAt = (data: string, byte: number): string => data.slice(2 * byte, 2 * byte + WORD)

export const numberOf = (word: string): bigint => BigInt(`0x${word}`)

/** Their last 20 bytes; that one has more is tallied once. */
export const addressesOf = (words: readonly string[], tally: Tally): readonly string[] => {
  if (words.some((word) => !word.startsWith(PADDING))) tally.note('dirtyTopic')
  return words.map((word) => `0x${word.slice(PADDING.length)}`)
}

const PADDING = '0'.repeat(24)
