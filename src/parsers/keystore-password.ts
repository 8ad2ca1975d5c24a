import { type EnvironmentValue, readEnvironmentValue } from './environment-value.ts'
import { behind, isBlank } from './keystore.ts'

/** The node's units and the maker's instructions know it by this name. */
const VARIABLE = 'KEYSTORE_PASSWORD'
const LABEL = 'Keystore password:'

const NO_PASSWORD = 'no password in it'

/** The password in the node's environment file, or why there is none that everybody would read so. */
export const readPassword = (text: string): EnvironmentValue => {
  const values = text.split('\n').flatMap(valuesIn)
  const last = values.at(-1)
  if (last === undefined || last.trim() === '')
    return { value: null, problem: 'it has no KEYSTORE_PASSWORD' }
  return readEnvironmentValue(last)
}

/** What a backup of the password is: one labelled line. */
export const renderPasswordBackup = (password: string): string => `${LABEL} ${password}\n`

/** Why the node finds no password in its environment file; null where it finds one. As in keystore.ts. */
export const findEnvironmentProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  // Of two lines the last one counts, for a shell and for systemd.
  const value = text.split('\n').flatMap(readVariable).at(-1)
  return value === undefined || value === '' ? NO_PASSWORD : null
}

/** Why the backup of the password holds none: it is the bare word, or has a label or the variable before it. */
export const findPasswordProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const lines = text.split('\n').map((line) => line.trim())
  const named = lines.flatMap((line) => [...behind(line, LABEL), ...readVariable(line)])
  return named.length > 0 && named.every((value) => value === '') ? NO_PASSWORD : null
}

/** What the line sets the variable to, without its quotes. */
const readVariable = (line: string): readonly string[] =>
  valuesIn(line).map((value) => withoutQuotes(value.trim()))

/** What stands behind the variable's sign, as it stands there. */
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
