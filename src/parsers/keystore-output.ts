import { behind, isSecret } from './keystore.ts'

/** What the keystore tool prints of a key, or what a backup of it holds. */
export interface KeyMaterial {
  /** What the key is made of: 64 hex digits. Whoever shows it gives the node away. */
  readonly secret: string
  /** 66 hex digits of a secp key, 96 of a BLS key; null where none was printed. */
  readonly publicKey: string | null
  /**
   * Whether it came out of a keystore of the first version, where the secret is the private key itself.
   * `import` writes the second version alone, where the key is made of the secret: another key.
   */
  readonly isLegacy: boolean
}

export type ReadMaterial =
  | { readonly material: KeyMaterial; readonly problem: null }
  /** In words that contain nothing of the text. */
  | { readonly material: null; readonly problem: string }

/** `recover` has the first, `create` the second. */
const LABELS = ['Keystore secret:', 'Keep your IKM secure:'] as const
/** Of v0.10 and before: the key itself, from which the secret that `import` asks for cannot be had. */
const KEY_LABEL = 'Keep your private key securely:'
/** `Keystore version: v1 (Legacy)`. */
const VERSION = 'Keystore version:'
const PUBLIC = 'public key:'
const PRIVATE = 'private key:'

/**
 * The secret is the last word of the line that begins with the label (the maker's instructions cut it out
 * so). No regular expressions here, as in keystore.ts.
 */
export const readKeyMaterial = (text: string): ReadMaterial => {
  const lines = text.split('\n').map((line) => line.trim())
  const words = lines
    .filter((line) => LABELS.some((label) => line.startsWith(label)))
    .map((line) => lastWord(line))
  const [secret, ...others] = [...new Set(words.map((word) => word.toLowerCase()))]
  if (secret === undefined) return { material: null, problem: whyNone(lines) }
  if (others.length > 0) return { material: null, problem: 'it holds several secrets that differ' }
  if (secret.startsWith('"') || !isSecret(secret))
    return { material: null, problem: 'the secret is not 64 hex digits' }
  const isLegacy = lines.some((line) => line.startsWith(VERSION) && line.includes('v1'))
  return { material: { secret, publicKey: publicKeyIn(lines), isLegacy }, problem: null }
}

const whyNone = (lines: readonly string[]): string => {
  if (lines.every((line) => line === '')) return 'it is empty'
  if (lines.some((line) => line.startsWith(KEY_LABEL)))
    return 'it is of v0.10 or before: it holds the private key, and not the secret (IKM) that is needed'
  if (lines.some((line) => line.includes(PRIVATE)))
    return 'it is of v0.11: it holds the private key, and not the secret (IKM) that is needed'
  return 'it has no line with the secret'
}

const publicKeyIn = (lines: readonly string[]): string | null => {
  const word = lines.flatMap((line) => behind(line, PUBLIC)).at(0)
  return word === undefined || !isPublicKey(word) ? null : word.toLowerCase()
}

const HEX = new Set('0123456789abcdef')
const isPublicKey = (word: string): boolean =>
  [66, 96].includes(word.length) && [...word.toLowerCase()].every((digit) => HEX.has(digit))

const lastWord = (line: string): string => line.replaceAll('\t', ' ').split(' ').at(-1) ?? ''
