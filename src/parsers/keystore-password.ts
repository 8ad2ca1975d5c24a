import { behind, isBlank } from './keystore.ts'

/** The node's units and the maker's instructions know it by this name. */
const VARIABLE = 'KEYSTORE_PASSWORD'
const LABEL = 'Keystore password:'

const NO_PASSWORD = 'no password in it'

/** The password in the node's environment file; undefined where there is none. Of two lines the last one counts. */
export const readPassword = (text: string): string | undefined =>
  // For a shell and for systemd.
  text.split('\n').flatMap(readVariable).at(-1) || undefined

/** What a backup of the password is: one labelled line. */
export const renderPasswordBackup = (password: string): string => `${LABEL} ${password}\n`

/** Why the node finds no password in its environment file; null where it finds one. As in keystore.ts. */
export const findEnvironmentProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  return readPassword(text) === undefined ? NO_PASSWORD : null
}

/** Why the backup of the password holds none: it is the bare word, or has a label or the variable before it. */
export const findPasswordProblem = (text: string): string | null => {
  if (isBlank(text)) return 'empty'
  const lines = text.split('\n').map((line) => line.trim())
  const named = lines.flatMap((line) => [...behind(line, LABEL), ...readVariable(line)])
  return named.length > 0 && named.every((value) => value === '') ? NO_PASSWORD : null
}

/** What the line sets the variable to, without its quotes. */
const readVariable = (line: string): readonly string[] => {
  const at = line.indexOf('=')
  if (at < 0) return []
  const name = line.slice(0, at).trim()
  if (name !== VARIABLE && name !== `export ${VARIABLE}`) return []
  return [withoutQuotes(line.slice(at + 1).trim())]
}

const withoutQuotes = (text: string): string => {
  const quote = text.charAt(0)
  if (quote !== '"' && quote !== "'") return text
  return text.slice(1, text.endsWith(quote) ? -1 : undefined).trim()
}
