import { isObject, tryJson } from '../core/json.ts'

/*
 * Checks secret files without showing them: a result contains only fixed texts. This file uses no regular expressions,
 * because the engine keeps the last text that one was matched against (`RegExp.input`).
 */

/** Checks a keystore (JSON); any other text is taken for the output of the keystore tool. */
export const checkKeyFile = (text: string) => {
  const kind = text.trimStart().startsWith('{') ? 'keystore' : 'backup'
  const problem = kind === 'keystore' ? findKeystoreProblem(text) : findBackupProblem(text)
  return { kind, valid: problem === null, problem }
}

/** The fields needed to open a keystore. `version` was added later; without it the keystore is version 1. */
const REQUIRED_FIELDS = [
  'ciphertext',
  'checksum',
  'hash',
  'cipher.cipher_function',
  'cipher.params.iv',
  'kdf.kdf_name',
  'kdf.params.salt',
] as const

/** Why the text is not a keystore; null if it is one, as far as this can be checked without the password. */
export const findKeystoreProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const found = tryJson(text)
  if (found === undefined) return 'not JSON'
  const missing = REQUIRED_FIELDS.find((path) => isEmptyValue(valueAt(found, path.split('.'))))
  return missing === undefined ? null : `${missing} is missing`
}

/** The labels of the secret in the output of `recover` and `create`. */
const LABELS = ['Keystore secret:', 'Keep your IKM secure:'] as const
/** The label of v0.10 and earlier: the private key, from which the secret that `import` needs cannot be derived. */
const KEY_LABEL = 'Keep your private key securely:'

/** The first line that `recover` prints. A redirected `recover` that failed leaves only this line. */
const RECOVER_START = 'Recovering secret'

/** Why the key cannot be restored from the text; null if the text contains the secret. */
export const findBackupProblem = (text: string): string | null => readKeyMaterial(text).problem

/** Whether the text is only whitespace, or NUL bytes as a file system leaves after a power failure. */
const isBlank = (text: string): boolean => text.replaceAll('\0', '').trim() === ''

/** The text after the label on the line, as an array of zero or one elements. */
const textAfter = (line: string, label: string): readonly string[] => {
  const at = line.indexOf(label)
  return at < 0 ? [] : [line.slice(at + label.length).trim()]
}

const SECRET_DIGITS = 64
const HEX = new Set('0123456789abcdefABCDEF')

const isSecret = (word: string): boolean => word.length === SECRET_DIGITS && [...word].every((digit) => HEX.has(digit))

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return value
  return isObject(value) && Object.hasOwn(value, key) ? valueAt(value[key], rest) : undefined
}

const isEmptyValue = (value: unknown): boolean => value === undefined || value === null || value === ''

/** `Keystore version: v1 (Legacy)`. */
const VERSION = 'Keystore version:'
const PUBLIC = 'public key:'
const PRIVATE = 'private key:'

/**
 * A key as the keystore tool prints it, or as its backup contains it; or why there is none, without a text of the file. The
 * secret from which the key is derived, 64 hex digits, is the last word of the line that begins with the label, as in the
 * node's own instructions. Anyone who has it controls the node. No regular expressions: see the top of this file.
 */
export const readKeyMaterial = (text: string) => {
  const failed = (problem: string) => ({ material: null, problem })
  if (isBlank(text)) return failed('empty')
  const lines = text.split('\n').map((line) => line.trim())
  const words = lines.filter((line) => LABELS.some((label) => line.startsWith(label))).map((line) => lastWord(line))
  const [secret, ...others] = [...new Set(words.map((word) => word.toLowerCase()))]
  if (secret === undefined) return failed(missingSecretReason(lines))
  if (others.length > 0) return failed('it contains several different secrets')
  if (!isSecret(secret)) return failed('the secret is not 64 hex digits')
  // In a keystore of version 1 the secret is the private key itself. `import` writes version 2 keystores only, which
  // derive the key from the secret: the result would be a different key.
  const isLegacy = lines.some((line) => line.startsWith(VERSION) && line.includes('v1'))
  return { material: { secret, publicKey: publicKeyIn(lines), isLegacy }, problem: null }
}

const missingSecretReason = (lines: readonly string[]): string => {
  if (lines.some((line) => line.startsWith(KEY_LABEL))) return 'from v0.10 or earlier: the private key, not the secret'
  if (lines.some((line) => line.includes(PRIVATE))) return 'from v0.11: the private key, not the secret'
  const isFailed = lines.some((line) => line.startsWith(RECOVER_START))
  return isFailed ? 'the output of a failed recover: no secret' : 'no line with the secret'
}

/** 66 hex digits for a secp key, 96 for a BLS key; null if the text has none. */
const publicKeyIn = (lines: readonly string[]): string | null => {
  const word = lines.flatMap((line) => textAfter(line, PUBLIC)).at(0)
  return word === undefined || !isPublicKey(word) ? null : word.toLowerCase()
}

const isPublicKey = (word: string): boolean =>
  [66, 96].includes(word.length) && [...word.toLowerCase()].every((digit) => HEX.has(digit))

const lastWord = (line: string): string => line.replaceAll('\t', ' ').split(' ').at(-1) ?? ''

/** The variable that the node's units read. */
const VARIABLE = 'KEYSTORE_PASSWORD'
const LABEL = 'Keystore password:'

const NO_PASSWORD = 'no password in it'

/** The password in the node's environment file, or why it is missing or ambiguous. */
export const readPassword = (text: string): EnvironmentValue => {
  const values = text.split('\n').flatMap(valuesIn)
  const last = values.at(-1)
  if (last === undefined || last.trim() === '') return { value: null, problem: 'it has no KEYSTORE_PASSWORD' }
  return readEnvironmentValue(last)
}

/** The content of a password backup: one labelled line. */
export const renderPasswordBackup = (password: string): string => `${LABEL} ${password}\n`

/** Why the environment file has no password; null if it has one. No regular expressions: see keystore.ts. */
export const findEnvironmentProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  // If two lines set the variable, a shell and systemd use the last one.
  return isPassword(text.split('\n').flatMap(valuesIn).at(-1) ?? '') ? null : NO_PASSWORD
}

/**
 * Why the password backup has no password; null if it has one. The password stands alone, or after a label or the
 * variable name.
 */
export const findPasswordProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const lines = text.split('\n').map((line) => line.trim())
  const named = lines.flatMap((line) => [...textAfter(line, LABEL), ...valuesIn(line)])
  return named.length > 0 && !named.some(isPassword) ? NO_PASSWORD : null
}

/** Whether there is more than quotes. */
const isPassword = (value: string): boolean => value.replaceAll('"', '').replaceAll("'", '').trim() !== ''

/** The text after the variable's `=`, unchanged. */
const valuesIn = (line: string): readonly string[] => {
  const at = line.indexOf('=')
  if (at < 0) return []
  const words = line.slice(0, at).trim().split(' ')
  const isExport = words[0] === 'export'
  const name = isExport ? words.slice(1).join('').trim() : words.join(' ')
  return name === VARIABLE ? [line.slice(at + 1)] : []
}

/** The value that a line of an environment file assigns, or why it depends on the program that reads the file. */
type EnvironmentValue =
  | { readonly value: string; readonly problem: null }
  | { readonly value: null; readonly problem: string }

/**
 * Reads the text after the `=` where a shell and systemd (systemd.exec(5), EnvironmentFile) agree on it: unquoted,
 * single-quoted or double-quoted parts. If they differ, the function returns a problem and does not guess. No regular
 * expressions here: see keystore.ts.
 */
export const readEnvironmentValue = (text: string): EnvironmentValue => {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text
  if (isBlankChar(line.charAt(0)) && line.trim() !== '') return ambiguous('it begins with a space or tab')
  let value = ''
  let at = 0
  while (at < line.length) {
    const char = line.charAt(at)
    if (isBlankChar(char)) {
      return line.slice(at).trim() === '' ? known(value) : ambiguous('it has a space or tab outside quotes')
    }
    const piece = char === "'" ? single(line, at) : char === '"' ? double(line, at) : bare(line, at)
    if ('problem' in piece) return ambiguous(piece.problem)
    value += piece.text
    at = piece.next
  }
  return known(value)
}

type Piece = { readonly text: string; readonly next: number } | { readonly problem: string }

const UNCLOSED: Piece = { problem: 'a quotation mark in it is not closed' }
/** A shell expands these; systemd does not. */
const EXPANDED = '$`'
const SPLITTING = ';&|<>()*?[~'

const single = (line: string, at: number): Piece => {
  const end = line.indexOf("'", at + 1)
  return end < 0 ? UNCLOSED : { text: line.slice(at + 1, end), next: end + 1 }
}

const double = (line: string, at: number): Piece => {
  let text = ''
  for (let next = at + 1; next < line.length; next += 1) {
    const char = line.charAt(next)
    if (char === '"') return { text, next: next + 1 }
    if (EXPANDED.includes(char)) return { problem: `it has a ${char} in double quotes` }
    if (char === '\\' && '"\\$`'.includes(line.charAt(next + 1))) {
      next += 1
      text += line.charAt(next)
    } else text += char
  }
  return UNCLOSED
}

const bare = (line: string, at: number): Piece => {
  const char = line.charAt(at)
  if (EXPANDED.includes(char) || SPLITTING.includes(char)) {
    return { problem: `it has a ${char} outside quotes` }
  }
  if (char !== '\\') return { text: char, next: at + 1 }
  if (at + 1 === line.length) return { problem: 'it continues on the next line' }
  return { text: line.charAt(at + 1), next: at + 2 }
}

const isBlankChar = (char: string): boolean => char === ' ' || char === '\t'

const known = (value: string): EnvironmentValue => ({ value, problem: null })

const ambiguous = (reason: string): EnvironmentValue => ({
  value: null,
  problem: `${reason}, which a shell and systemd read differently; enclose the value in single quotes`,
})
