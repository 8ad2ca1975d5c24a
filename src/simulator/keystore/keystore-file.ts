import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto'
import { KeystoreFault } from './keystore-fault.ts'

export interface Sealed {
  readonly secret: Buffer
  /** Of the first, the secret is the private key; of the second, the private key is derived from it. */
  readonly version: 1 | 2
}

interface Seal extends Sealed {
  readonly password: string
  /** Both random, where they are not given. */
  readonly salt?: Buffer
  readonly iv?: Buffer
}

/** The real tool takes 262144, and a second. */
const QUICK = { key_len: 32, n: 1024, r: 8, p: 1 }

/** A keystore as the tool writes it: with a version only since there is a second. */
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

/** Throws a KeystoreFault. */
export const openKeystore = (text: string, password: string): Sealed => {
  const found = readJson(text)
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
  if (!isKnown || iv.length !== 16 || valueAt(found, ['hash']) !== 'SHA256') throw noKeystore()
  if (checksumOf(key, ciphertext) !== hexAt(found, ['checksum']).toString('hex')) {
    throw new KeystoreFault('ChecksumError', 'FailedChecksumVerification')
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
  // As EIP-2335 wants it.
  const plain = password.normalize('NFKD').replaceAll(/\p{Cc}/gu, '')
  // Node would take its defaults for a 0.
  const isPossible = n > 1 && r > 0 && p > 0 && key_len >= 10 && key_len <= 64
  if (!isPossible) throw new KeystoreFault('KDFError', 'InvalidParams')
  try {
    return scryptSync(plain, salt, 32, { N: n, r, p, maxmem: MAX_MEMORY })
  } catch {
    throw new KeystoreFault('KDFError', 'InvalidParams')
  }
}

const checksumOf = (key: Buffer, ciphertext: Buffer): string =>
  createHash('sha256').update(key.subarray(16)).update(ciphertext).digest('hex')

const noKeystore = (): KeystoreFault => new KeystoreFault('InvalidJSONFormat')

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw noKeystore()
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return value
  return isObject(value) ? valueAt(value[key], rest) : undefined
}

const numberAt = (value: unknown, path: readonly string[]): number => {
  const found = valueAt(value, path)
  if (typeof found !== 'number') throw noKeystore()
  return found
}

const hexAt = (value: unknown, path: readonly string[]): Buffer => {
  const found = valueAt(value, path)
  if (typeof found !== 'string' || !/^(?:[\da-f]{2})*$/i.test(found)) throw noKeystore()
  return Buffer.from(found, 'hex')
}
