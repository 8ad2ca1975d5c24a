import { createHash } from 'node:crypto'

/** Pseudorandom numbers in [0, 1), the same for the same seed (mulberry32). */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** 64 hex digits, the same for the same parts: for hashes, keys and identifiers of the simulation. */
export const digest = (...parts: readonly (string | number | bigint)[]): string =>
  createHash('sha256').update(parts.join('/')).digest('hex')

/** An integer below `bound`, the same for the same parts. */
export const pick = (bound: number, ...parts: readonly (string | number | bigint)[]): number =>
  Number.parseInt(digest(...parts).slice(0, 8), 16) % bound
