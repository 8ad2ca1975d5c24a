/** A section with such a name, as in the agent's configuration, is not a secret. */
const NO_SECTION = String.raw`(?!s\\{0,4}["']?:\s{0,8}(?:\{|\n))`
/**
 * The word after such a label is a secret, with or without a sign between them:
 * `--keystore-password X`.
 */
const ALWAYS = String.raw`pass(?:word|phrase|wd|code)|ikm|secret|token${NO_SECTION}|(?:api|private)[-_ ]?key`
/** These words have other meanings too: `seed peers`. */
const WITH_SIGN =
  'pwd|credentials?|cookie|authorization|seed|(?:signing|access|encryption|session|auth|master)[-_ ]?key'

/** Too short to match within words: `pass=`, `pw: `. */
const SHORT = '(?<![a-z0-9])(?:pass|pw|sk)(?![\\w-])'

/** A sentence about a secret that does not show it: `API key is needed`, `token expired`. */
const STATUS = String.raw`(?:needed|required|missing|expired|invalid|wrong|unknown|empty|revoked|not)(?=[\s.,;:!?)]|$)`
const SIGN = String.raw`(?:\s{0,8}(?:->|\u2192|=>|:=|%3[ad]|[=:]|\s(?:is|was)\s(?!\s{0,8}${STATUS}))\s{0,8}|>)`
/** The owner of the secret: `password for keystore: X`. */
const WHOSE = String.raw`(?:\s(?:for|of|to)\s[\w./-]{1,64}(?=\s{0,8}[=:-]))?`

/** A label of a secret, and the extent of its value. */
export interface Label {
  /** Matches up to the beginning of the value; the group is the escape of the value's quotation mark. */
  readonly pattern: RegExp
  readonly reach: 'word' | 'line'
}

/** The scheme is not a secret: `Authorization: Bearer (redacted)`. */
const REDACTED_CREDENTIALS = String.raw`(?:bearer|basic) \(redacted\)`

const labels = (words: string, sign: string): Label => ({
  pattern: new RegExp(String.raw`(?:${words})[\w-]{0,64}\\{0,4}["']?${sign}(?!${REDACTED_CREDENTIALS})(\\{0,4})`, 'gi'),
  reach: 'word',
})
/** HTTP headers and unit settings: the value extends to the end of the line. */
const TO_THE_END: readonly Label[] = [
  {
    pattern: /(?:authorization|cookie)\\{0,4}["']?\s{0,8}[=:]\s{0,8}(?:(?:bearer|basic)\s{1,8})?(\\{0,4})/gi,
    reach: 'line',
  },
  { pattern: /(?:PASSWORD|PASSPHRASE|IKM)=(\\{0,4})/g, reach: 'line' },
]
const AFTER_SIGN = labels(`${ALWAYS}|${WITH_SIGN}|${SHORT}`, WHOSE + SIGN)

export const WITH_OR_WITHOUT_SIGN: readonly Label[] = [
  ...TO_THE_END,
  AFTER_SIGN,
  labels(ALWAYS, String.raw`\s{1,8}(?!\s{0,8}(?:(?:is|was)\s|->|\u2192|${STATUS}))`),
]
export const ONLY_WITH_SIGN: readonly Label[] = [...TO_THE_END, AFTER_SIGN]

/** Matches a line that mentions secrets. */
export const SUSPICIOUS = new RegExp(`${ALWAYS}|${WITH_SIGN}|${SHORT}|keystore|mnemonic|private`, 'i')

/** Replaces each value with a mark and keeps its label and quotation marks. */
export const redactValues = (text: string, label: Label, mark: () => string): string => {
  const parts: string[] = []
  let from = 0
  for (const found of text.matchAll(label.pattern)) {
    const begin = found.index + found[0].length
    // A label inside a value that is already redacted.
    if (found.index < from || begin >= text.length) continue
    const value = valueAt(text, begin, { escape: found[1] ?? '', reach: label.reach })
    if (value.end <= value.begin || isMarked(text.slice(value.begin, value.end), label)) continue
    parts.push(text.slice(from, value.begin), mark())
    from = value.end
  }
  return parts.join('') + text.slice(from)
}

const MARKED = /^\((?:redacted|hex digits|long word)\)/

/** For a value that extends to the end of the line, text after the mark is secret too. */
const isMarked = (value: string, { reach }: Label): boolean => {
  const [mark = ''] = MARKED.exec(value) ?? []
  return mark !== '' && (reach === 'word' || mark === value)
}

/** A structure: `{…`, `[…`, `Secret { …`, `Secret(…`. */
const STRUCTURE = /\w{0,64}(?:\s?[{[]|\()/y
/** Up to the end of the enclosing quoted text. */
const LINE = /(?:[^"\\\n]|\\(?!\\{0,4}"))+/y
const WORD = /(?:[^\s"'\\]|\\(?!\\{0,4}["']))+/y

interface Value {
  readonly escape: string
  readonly reach: Label['reach']
}

const valueAt = (text: string, at: number, { escape, reach }: Value) => {
  const [quote = ''] = text.slice(at, at + 1)
  if (quote === '"' || quote === "'") {
    const end = escape === '' ? closing(text, at + 1, quote) : text.indexOf(`${escape}${quote}`, at + 1)
    return { begin: at + 1, end: end < 0 ? text.length : end }
  }
  if (reach === 'line') return { begin: at, end: at + matchesAt(LINE, text, at) }
  // The end of a structure is unknown: redact to the end.
  if (matchesAt(STRUCTURE, text, at) > 0) return { begin: at, end: text.length }
  return { begin: at, end: at + matchesAt(WORD, text, at) }
}

/** The length of the match at exactly this position. */
const matchesAt = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

const closing = (text: string, from: number, quote: string): number => {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === quote) return at
  }
  return -1
}
