/** What a line of an environment file sets a variable to, or why that depends on who reads it. */
export type EnvironmentValue =
  | { readonly value: string; readonly problem: null }
  | { readonly value: null; readonly problem: string }

/**
 * Reads what stands behind the `=`, where a shell and systemd (systemd.exec(5), EnvironmentFile) agree on
 * it: pieces bare, in single or in double quotes. Where they do not, that is told and no guess is made. No
 * regular expressions here, as in keystore.ts.
 */
export const readEnvironmentValue = (text: string): EnvironmentValue => {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text
  if (isBlankSign(line.charAt(0)) && line.trim() !== '') return refused('it begins with a blank')
  let value = ''
  let at = 0
  while (at < line.length) {
    const sign = line.charAt(at)
    if (isBlankSign(sign)) {
      return line.slice(at).trim() === ''
        ? told(value)
        : refused('it has a blank outside of quotes')
    }
    const piece = sign === "'" ? single(line, at) : sign === '"' ? double(line, at) : bare(line, at)
    if ('problem' in piece) return refused(piece.problem)
    value += piece.text
    at = piece.next
  }
  return told(value)
}

type Piece = { readonly text: string; readonly next: number } | { readonly problem: string }

const UNCLOSED: Piece = { problem: 'a quotation mark in it is not closed' }
/** Of these, a shell makes something else, and systemd nothing. */
const EXPANDED = '$`'
const SPLITTING = ';&|<>()*?[~'

const single = (line: string, at: number): Piece => {
  const end = line.indexOf("'", at + 1)
  return end < 0 ? UNCLOSED : { text: line.slice(at + 1, end), next: end + 1 }
}

const double = (line: string, at: number): Piece => {
  let text = ''
  for (let next = at + 1; next < line.length; next += 1) {
    const sign = line.charAt(next)
    if (sign === '"') return { text, next: next + 1 }
    if (EXPANDED.includes(sign)) return { problem: `it has a ${sign} in double quotes` }
    if (sign === '\\' && '"\\$`'.includes(line.charAt(next + 1))) {
      next += 1
      text += line.charAt(next)
    } else text += sign
  }
  return UNCLOSED
}

const bare = (line: string, at: number): Piece => {
  const sign = line.charAt(at)
  if (EXPANDED.includes(sign) || SPLITTING.includes(sign)) {
    return { problem: `it has a ${sign} outside of quotes` }
  }
  if (sign !== '\\') return { text: sign, next: at + 1 }
  if (at + 1 === line.length) return { problem: 'it goes on in the next line' }
  return { text: line.charAt(at + 1), next: at + 2 }
}

const isBlankSign = (sign: string): boolean => sign === ' ' || sign === '\t'

const told = (value: string): EnvironmentValue => ({ value, problem: null })

const refused = (why: string): EnvironmentValue => ({
  value: null,
  problem: `${why}, which a shell and systemd read differently; put it in single quotes`,
})
