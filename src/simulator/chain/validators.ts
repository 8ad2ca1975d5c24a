import { keyPairOf, type KeyType } from '../keystore/key-pair.ts'
import type { Sealed } from '../keystore/keystore-file.ts'

export interface Validator {
  /** What the keystores of its node contain. */
  readonly sealed: Readonly<Record<KeyType, Sealed>>
  /** The secp public key: 66 hex digits. */
  readonly publicKey: string
  /** host:port, from ranges that nobody has. */
  readonly address: string
}

/** The validators of a simulated network. Each simulated node is one of them. */
export const createValidators = (seed: number, count: number): readonly Validator[] =>
  Array.from({ length: count }, (_, index) => {
    const sealedOf = (type: KeyType): Sealed => {
      const text = `simulated ${type} key ${seed}/${index}, not a real key; `
      return { secret: Buffer.from(text).subarray(0, 32), version: 2 }
    }
    const sealed = { secp: sealedOf('secp'), bls: sealedOf('bls') }
    return {
      sealed,
      get publicKey() {
        return publicKeyOf(sealed.secp)
      },
      address: `${addressOf(10 + index)}:8000`,
    }
  })

/** A key takes milliseconds: it is derived on first use, once per process. */
const publicKeyOf = (sealed: Sealed): string => {
  const name = sealed.secret.toString('latin1')
  const known = derived.get(name) ?? keyPairOf(sealed, 'secp').publicKey
  derived.set(name, known)
  return known
}

const derived = new Map<string, string>()

/** The first 256 from a range for documentation, the others from the one for benchmarks. */
const addressOf = (number: number): string =>
  number < 256 ? `198.51.100.${number}` : `198.18.${Math.floor(number / 256)}.${number % 256}`
