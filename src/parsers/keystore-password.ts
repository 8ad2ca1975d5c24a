import { textAfter, isBlank } from './keystore.ts'

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
  const value = text.split('\n').flatMap(readVariable).at(-1)
  return value === undefined || value === '' ? NO_PASSWORD : null
}

/**
 * Why the password backup has no password; null if it has one. The password stands alone, or after a label or the
 * variable name.
 */
export const findPasswordProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const lines = text.split('\n').map((line) => line.trim())
  const named = lines.flatMap((line) => [...textAfter(line, LABEL), ...readVariable(line)])
  return named.length > 0 && named.every((value) => value === '') ? NO_PASSWORD : null
}

/** The value that the line assigns to the variable, without quotes. */
const readVariable = (line: string): readonly string[] => valuesIn(line).map((value) => withoutQuotes(value.trim()))

/** The text after the variable's `=`, unchanged. */
const valuesIn = (line: string): readonly string[] => {
  const at = line.indexOf('=')
  if (at < 0) return []
  const words = line.slice(0, at).trim().split(' ')
  const isExport = words[0] === 'export'
  const name = isExport ? words.slice(1).join('').trim() : words.join(' ')
  return name === VARIABLE ? [line.slice(at + 1)] : []
}

const withoutQuotes = (text: string): string => {
  const quote = text.charAt(0)
  if (quote !== '"' && quote !== "'") return text
  return text.slice(1, text.endsWith(quote) ? -1 : undefined).trim()
}

/** The value that a line of an environment file assigns, or why it depends on the program that reads the file. */
export type EnvironmentValue =
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
