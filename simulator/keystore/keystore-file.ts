import { createCipheriv, createDecipheriv, createECDH, createHash, randomBytes, scryptSync } from 'node:crypto'
import { z } from 'zod'
import { tryJson } from '../../src/core/json.ts'

/** Why a keystore could not be opened or written, with the tool's error names. */
export class KeystoreError extends Error {
  constructor(kind: 'InvalidJSONFormat' | 'KDFError' | 'ChecksumError', detail = '') {
    super(detail === '' ? kind : `${kind}(${detail})`)
  }
}

export type KeyType = 'secp' | 'bls'

/**
 * The key pair of a secret, which depends on the version of the keystore. Throws a KeystoreError. Derived by simple
 * hashes, where the real tool follows standards; a secp public key is a point of the curve, a BLS public key only has
 * the right form.
 */
export const keyPairOf = ({ secret, version }: Sealed, type: KeyType) => {
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

const hex = z
  .string()
  .regex(/^(?:[\da-f]{2})*$/i)
  .transform((text): Buffer => Buffer.from(text, 'hex'))
const scrypt = z.object({ salt: hex, key_len: z.number(), n: z.number(), r: z.number(), p: z.number() })

const keystore = z.object({
  version: z.literal([1, 2]).default(1),
  ciphertext: hex,
  checksum: hex,
  cipher: z.object({ params: z.object({ iv: hex.refine(({ length }) => length === 16) }) }),
  kdf: z.object({ params: scrypt }),
  hash: z.literal('SHA256'),
})

/** Throws a KeystoreError. */
export const openKeystore = (text: string, password: string): Sealed => {
  const { data } = keystore.safeParse(tryJson(text))
  if (!data) throw invalid()
  const { version, ciphertext, checksum, cipher, kdf } = data
  const key = deriveKey(password, kdf.params)
  if (checksumOf(key, ciphertext) !== checksum.toString('hex')) {
    throw new KeystoreError('ChecksumError', 'FailedChecksumVerification')
  }
  const decipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), cipher.params.iv)
  return { secret: Buffer.concat([decipher.update(ciphertext), decipher.final()]), version }
}

const MAX_MEMORY = 1024 ** 3

const deriveKey = (password: string, { salt, key_len, n, r, p }: z.output<typeof scrypt>): Buffer => {
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
