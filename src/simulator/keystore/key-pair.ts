import { createECDH, createHash } from 'node:crypto'
import { KeystoreFault } from './keystore-fault.ts'
import type { Sealed } from './keystore-file.ts'

export type KeyType = 'secp' | 'bls'

export interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/**
 * The key that a secret stands for. The same secret is another key in a keystore of the other version.
 * Derived by hashes of our own, where the real tool has standards; a secp public key is a point of the curve,
 * a BLS public key is one in form alone.
 */
export const keyPairOf = ({ secret, version }: Sealed, type: KeyType): KeyPair => {
  if (secret.length < 32 || (version === 1 && secret.length > 32)) throw noKey()
  const key =
    version === 1
      ? secret
      : createHash('sha256').update(`simulated ${type}/`).update(secret).digest()
  return {
    privateKey: key.toString('hex'),
    publicKey: type === 'secp' ? pointOf(key) : createHash('sha384').update(key).digest('hex'),
  }
}

const pointOf = (key: Buffer): string => {
  const curve = createECDH('secp256k1')
  try {
    curve.setPrivateKey(key)
  } catch {
    throw noKey()
  }
  return curve.getPublicKey('hex', 'compressed')
}

/** As the tool names it, whatever the keystore's JSON is. */
const noKey = (): KeystoreFault => new KeystoreFault('InvalidJSONFormat')
