import { digest, pick } from './random.ts'

export interface Validator {
  /** 66 hex digits: a compressed secp256k1 key in form, though no point of the curve. */
  readonly publicKey: string
  /** host:port, from ranges that nobody has. */
  readonly address: string
}

/** The validators of a simulated network. Each simulated node is one of them. */
export const createValidators = (seed: number, count: number): readonly Validator[] =>
  Array.from({ length: count }, (_, index) => ({
    publicKey: `0${2 + pick(2, seed, 'parity', index)}${digest(seed, 'validator', index)}`,
    address: `${addressOf(10 + index)}:8000`,
  }))

/** The first 256 from a range for documentation, the others from the one for benchmarks. */
const addressOf = (number: number): string =>
  number < 256 ? `198.51.100.${number}` : `198.18.${Math.floor(number / 256)}.${number % 256}`
