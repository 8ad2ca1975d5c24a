import { createCipheriv, createDecipheriv, createECDH, createHash, randomBytes, scryptSync } from 'node:crypto'
import { isObject, tryJson } from '../../src/core/json.ts'

/** Why a keystore could not be opened or written, with the tool's error names. */
export class KeystoreError extends Error {
  constructor(kind: 'InvalidJSONFormat' | 'KDFError' | 'ChecksumError', detail = '') {
    super(detail === '' ? kind : `${kind}(${detail})`)
  }
}

export type KeyType = 'secp' | 'bls'

interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/**
 * The key pair of a secret, which depends on the version of the keystore. Throws a KeystoreError. Derived by simple
 * hashes, where the real tool follows standards; a secp public key is a point of the curve, a BLS public key only has
 * the right form.
 */
export const keyPairOf = ({ secret, version }: Sealed, type: KeyType): KeyPair => {
  if (secret.length < 32 || (version === 1 && secret.length > 32)) throw invalid()
  const key = version === 1 ? secret : createHash('sha256').update(`simulated ${type}/`).update(secret).digest()
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
    throw invalid()
  }
  return curve.getPublicKey('hex', 'compressed')
}

/** The tool reports this error for any invalid key, and for any text that is not a keystore. */
const invalid = (): KeystoreError => new KeystoreError('InvalidJSONFormat')

export interface Sealed {
  readonly secret: Buffer
  /** Version 1: the secret is the private key. Version 2: the private key is derived from it. */
  readonly version: 1 | 2
}

interface Seal extends Sealed {
  readonly password: string
  /** Random by default, like `iv`. */
  readonly salt?: Buffer
  readonly iv?: Buffer
}

/** The real tool uses n = 262144 and takes a second. */
const QUICK = { key_len: 32, n: 1024, r: 8, p: 1 }

/** The text of a keystore; only version 2 has a version field. */
export const sealKeystore = (seal: Seal): string => {
  const { secret, version, password, salt = randomBytes(32), iv = randomBytes(16) } = seal
  const key = deriveKey(password, { salt, ...QUICK })
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()])
  return JSON.stringify({
    ...(version === 1 ? {} : { version }),
    ciphertext: ciphertext.toString('hex'),
    checksum: checksumOf(key, ciphertext),
    cipher: { cipher_function: 'AES_128_CTR', params: { iv: iv.toString('hex') } },
    kdf: { kdf_name: 'scrypt', params: { salt: salt.toString('hex'), ...QUICK } },
    hash: 'SHA256',
  })
}

/** Throws a KeystoreError. */
export const openKeystore = (text: string, password: string): Sealed => {
  const found = tryJson(text)
  const params = ['kdf', 'params']
  const key = deriveKey(password, {
    salt: hexAt(found, [...params, 'salt']),
    key_len: numberAt(found, [...params, 'key_len']),
    n: numberAt(found, [...params, 'n']),
    r: numberAt(found, [...params, 'r']),
    p: numberAt(found, [...params, 'p']),
  })
  const ciphertext = hexAt(found, ['ciphertext'])
  const iv = hexAt(found, ['cipher', 'params', 'iv'])
  const version = valueAt(found, ['version']) ?? 1
  const isKnown = version === 1 || version === 2
  if (!isKnown || iv.length !== 16 || valueAt(found, ['hash']) !== 'SHA256') throw invalid()
  if (checksumOf(key, ciphertext) !== hexAt(found, ['checksum']).toString('hex')) {
    throw new KeystoreError('ChecksumError', 'FailedChecksumVerification')
  }
  const cipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), iv)
  return { secret: Buffer.concat([cipher.update(ciphertext), cipher.final()]), version }
}

interface Scrypt {
  readonly salt: Buffer
  readonly key_len: number
  readonly n: number
  readonly r: number
  readonly p: number
}

const MAX_MEMORY = 1024 ** 3

const deriveKey = (password: string, { salt, key_len, n, r, p }: Scrypt): Buffer => {
  // Normalized as in EIP-2335.
  const plain = password.normalize('NFKD').replaceAll(/\p{Cc}/gu, '')
  // Node.js would use its defaults for a 0.
  const isPossible = n > 1 && r > 0 && p > 0 && key_len >= 10 && key_len <= 64
  if (!isPossible) throw new KeystoreError('KDFError', 'InvalidParams')
  try {
    return scryptSync(plain, salt, 32, { N: n, r, p, maxmem: MAX_MEMORY })
  } catch {
    throw new KeystoreError('KDFError', 'InvalidParams')
  }
}

const checksumOf = (key: Buffer, ciphertext: Buffer): string =>
  createHash('sha256').update(key.subarray(16)).update(ciphertext).digest('hex')

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return value
  return isObject(value) ? valueAt(value[key], rest) : undefined
}

const numberAt = (value: unknown, path: readonly string[]): number => {
  const found = valueAt(value, path)
  if (typeof found !== 'number') throw invalid()
  return found
}

const hexAt = (value: unknown, path: readonly string[]): Buffer => {
  const found = valueAt(value, path)
  if (typeof found !== 'string' || !/^(?:[\da-f]{2})*$/i.test(found)) throw invalid()
  return Buffer.from(found, 'hex')
}
