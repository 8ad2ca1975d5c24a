/**
 * Secret files are judged here, never shown: a verdict holds words of ours alone. And no regular
 * expressions in this file, for the engine keeps the last text that one was tried on (`RegExp.input`).
 */
export interface KeyFileVerdict {
  readonly kind: 'keystore' | 'backup'
  readonly valid: boolean
  /** What is wrong, in words that contain nothing of the file. */
  readonly problem: string | null
}

/** Judges a keystore, which is JSON, or else what is said to be the output of the keystore tool. */
export const judgeKeyFile = (text: string): KeyFileVerdict => {
  const kind = text.trimStart().startsWith('{') ? 'keystore' : 'backup'
  const problem = kind === 'keystore' ? findKeystoreProblem(text) : findBackupProblem(text)
  return { kind, valid: problem === null, problem }
}

/** What a keystore cannot be opened without; `version` came later, and stands for the first where it is absent. */
const NEEDED = [
  'ciphertext',
  'checksum',
  'hash',
  'cipher.cipher_function',
  'cipher.params.iv',
  'kdf.kdf_name',
  'kdf.params.salt',
] as const

/** Why the text is no keystore; null where it is one, as far as can be told without the password. */
export const findKeystoreProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const found = readJson(text)
  if (found === undefined) return 'no JSON'
  const missing = NEEDED.find((path) => isVoid(valueAt(found, path.split('.'))))
  return missing === undefined ? null : `${missing} is missing`
}

/** `recover` and `create` write the same thing under labels of their own; the last is of v0.10 and before. */
const LABELS = [
  'Keystore secret:',
  'Keep your IKM secure:',
  'Keep your private key securely:',
] as const

/** What `recover` prints before it tries: all that is left of one that failed, redirected to a file. */
const BEGINNING = 'Recovering secret'

/** Why nothing can be restored from the text; null where the secret stands in it. */
export const findBackupProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const lines = text.split('\n').map((line) => line.trim())
  const secrets = lines.flatMap((line) => LABELS.flatMap((label) => behind(line, label)))
  if (secrets.some(isSecret)) return null
  if (secrets.length > 0) return 'the secret is not 64 hex digits'
  const isFailed = lines.some((line) => line.startsWith(BEGINNING)) && !lines.some(isKeyLine)
  return isFailed ? 'what a failed recover leaves: no secret' : 'no line with the secret'
}

/** Nothing but blanks, or the zeros that a file system leaves of a file after a power cut. */
export const isBlank = (text: string): boolean => text.replaceAll('\0', '').trim() === ''

/** What stands on the line behind the label: nothing or one text. */
export const behind = (line: string, label: string): readonly string[] => {
  const at = line.indexOf(label)
  return at < 0 ? [] : [line.slice(at + label.length).trim()]
}

/** v0.11 printed the key that is made of the secret, and not the secret itself. */
const isKeyLine = (line: string): boolean => line.includes('private key:')

const SECRET_DIGITS = 64
const HEX = new Set('0123456789abcdefABCDEF')

export const isSecret = (text: string): boolean => {
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"')
  const word = isQuoted ? text.slice(1, -1) : text
  return word.length === SECRET_DIGITS && [...word].every((digit) => HEX.has(digit))
}

/** Undefined where it is none. The engine's own complaint quotes the text, and ends here. */
const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return value
  return isObject(value) && Object.hasOwn(value, key) ? valueAt(value[key], rest) : undefined
}

const isVoid = (value: unknown): boolean => value === undefined || value === null || value === ''
