import { redactPhrases } from './phrase.ts'
import { REDACTED, redactUrl, sanitize } from './redact.ts'

/** Why something was redacted. */
export type RedactionKind = 'address' | 'phrase' | 'labelled' | 'credentials' | 'hex digits' | 'long word'
export type RedactionCount = (kind: RedactionKind) => void
type Count = RedactionCount

/**
 * Redacts possible secrets in a log line and keeps what operators need: public keys, abbreviated ids, and hashes with a
 * label that names them as such. A value with the label of a secret is always redacted. Terminal control sequences are
 * removed.
 */
export const redactLog = (line: string, count: Count = () => undefined): string =>
  redactWords(redactLabelled(redactAddresses(readable(line), count), WITH_OR_WITHOUT_SIGN, count), count)

/**
 * The same for a text written by the agent, line by line. In such a text a label and its value are separated by a sign;
 * a word that follows a label without a sign is not its value.
 */
export const redactDocument = (text: string, count: Count = () => undefined): string =>
  readable(text)
    .split('\n')
    .map((line) => redactWords(redactLabelled(redactAddresses(line, count), ONLY_WITH_SIGN, count), count))
    .join('\n')

/** Escaped characters in JSON and Rust: `\u001b`, `\u{1b}`, `\x1b`. */
const ESCAPED = /\\{1,8}(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2}))/gi
const HIDING = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029A-Za-z0-9]/u

/** Removes what hides a word: invisible characters, and letters written as escapes. JSON remains valid JSON. */
const readable = (text: string): string =>
  sanitize(
    text.replaceAll(ESCAPED, (whole: string, ...[short, long, byte]: readonly string[]) => {
      const code = Number.parseInt(short ?? long ?? byte ?? '', 16)
      const sign = code > 0x10_ff_ff ? '' : String.fromCodePoint(code)
      return HIDING.test(sign) && !/[\t\n\r]/.test(sign) ? sign : whole
    }),
  )

/** Punctuation after a URL is not part of it. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]*[^\s"'<>:,.;)]/gi
/** `host:8080/v2/KEY`: a path with a part that has digits and at least eight characters, or at least twenty. */
const WITHOUT_SCHEME =
  /(?<![\w./-])([\w-]{1,63}(?:\.[\w-]{1,63}){0,8}(?::\d{2,5})|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})(?:\/[\w.~%-]{0,200}){0,8}\/(?=[\w.~%-]{20}|(?=[\w~%-]{0,200}\d)[\w~%-]{8})[^\s"'<>]{1,2048}/g
/** `user:password@host` without a scheme. */
const LOGIN = /(?<![\w.+-])([\w.+-]{1,64}):(?!\(redacted\))[^\s@/"'\\]{1,256}@(?=[\w[])/g

const redactAddresses = (text: string, count: Count): string =>
  text
    .replaceAll(ADDRESS, (address) => {
      const shown = redactUrl(address)
      if (shown.endsWith('/\u2026') && shown !== address) count('address')
      return shown === '(not a URL)' ? mark('address', count) : shown
    })
    .replaceAll(WITHOUT_SCHEME, (address, host: string) => {
      if (/\.(?:rs|c|cc|cpp|h|hpp|ts|js)$/.test(host)) return address
      count('address')
      return `${host}/…`
    })
    .replaceAll(LOGIN, (_, user: string) => `${user}:${mark('address', count)}@`)

const MARK = String.raw`\((?:redacted|hex digits|long word)\)`
const PHRASE = new RegExp(
  `((?:mnemonic|(?:seed|recovery)[-_ ]?(?:phrase|words))\\w{0,32})(?!\\w)(?! ${MARK}$)[^]*`,
  'gi',
)
const CREDENTIALS = new RegExp(`\\b(bearer|basic)\\s+(?!--|${MARK})[^\\s"']+`, 'gi')

const redactLabelled = (text: string, labels: readonly Label[], count: Count): string => {
  const labelled = text.replaceAll(PHRASE, (_, label: string) => `${label} ${mark('phrase', count)}`)
  const before = redactPhrases(labelled, () => mark('phrase', count)).replaceAll(
    CREDENTIALS,
    (_, label: string) => `${label} ${mark('credentials', count)}`,
  )
  return labels.reduce((left, label) => redactValues(left, label, () => mark('labelled', count)), before)
}

const HEX = /(?:0x)?[0-9a-f]{64,}/gi
const WITH_SLASHES = /(?<![\w.+-])[A-Za-z0-9+/]{24,}={0,2}(?![\w.-])/g
/** The address of a contract or an account. It is public, and no private key is that short. */
const CONTRACT = /^0x[0-9a-f]{40}$/i
const LONG = /[A-Za-z0-9+_-]{16,}={0,2}/g

/** Tokens that begin with the name of their kind, and JWTs with their three parts. */
const TOKEN =
  /\b(?:xox[a-z]-|gh[a-z]_|github_pat_|glpat-|sk[-_](?:live|test|ant|proj)[-_]|AKIA|eyJ[\w-]{8,}\.)[\w.-]{8,}/g
/** Sixteen or more bytes as numbers, or 32 and more as hex digits in groups. */
const BYTES = /(?<![\w.])(?:(?:0x[0-9a-f]{1,2}|\d{1,3})\s?,\s?){15,}(?:0x[0-9a-f]{1,2}|\d{1,3})(?![\w.])/gi
const GROUPS =
  /(?<!\w)(?:(?:[0-9a-f]{2}[ :-]){31,}[0-9a-f]{2}|(?:[0-9a-f]{4}[ :-]){15,}[0-9a-f]{4}|(?:[0-9a-f]{8}[ :-]){7,}[0-9a-f]{8})(?!\w)/gi

const redactWords = (text: string, count: Count): string => {
  // If a line mentions secrets, no hex digits in it are considered public.
  const isSuspicious = SUSPICIOUS.test(text)
  return text
    .replaceAll(TOKEN, () => mark('long word', count))
    .replaceAll(BYTES, () => mark('hex digits', count))
    .replaceAll(GROUPS, () => mark('hex digits', count))
    .replaceAll(HEX, (digits, at: number, whole: string) => {
      if (!isSuspicious && isPublicHex(digits, whole.slice(Math.max(0, at - 96), at))) return digits
      return `${digits.startsWith('0x') ? '0x' : ''}${mark('hex digits', count)}`
    })
    .replaceAll(WITH_SLASHES, (word) => (isPathLike(word) ? word : mark('long word', count)))
    .replaceAll(LONG, (word, at: number, whole: string) =>
      isLongWord(word, whole.slice(Math.max(0, at - 96), at)) && (isSuspicious || !CONTRACT.test(word))
        ? mark('long word', count)
        : word,
    )
}

const mark = (kind: RedactionKind, count: Count): string => {
  count(kind)
  return kind === 'hex digits' || kind === 'long word' ? `(${kind})` : REDACTED
}

/**
 * The word after such a label is a secret, with or without a sign between them:
 * `--keystore-password X`.
 */
const ALWAYS = 'pass(?:word|phrase|wd|code)|ikm|secret|token|(?:api|private)[-_ ]?key'
/** These words have other meanings too: `seed peers`. */
const WITH_SIGN =
  'pwd|credentials?|cookie|authorization|seed|(?:signing|access|encryption|session|auth|master)[-_ ]?key'

/** Too short to match within words: `pass=`, `pw: `. */
const SHORT = '(?<![a-z0-9])(?:pass|pw|sk)(?![\\w-])'

/** A sentence about a secret that does not show it: `API key is needed`, `token expired`. */
const STATUS = String.raw`(?:needed|required|missing|expired|invalid|wrong|unknown|empty|revoked|not)(?=[\s.,;:!?)]|$)`
const SIGN = String.raw`(?:\s{0,8}(?:->|\u2192|=>|:=|%3[ad]|[=:]|\s(?:is|was)\s(?!\s{0,8}${STATUS}))\s{0,8}|>)`
/** Words after a label that are not its value: `the password backup`, `secret of the node`. */
const PROSE = String.raw`(?:and|at|backups?|by|cannot|could|files?|for|from|has|in|must|of|on|or|to|with|without)(?=[\s.,;:!?)]|$)`
/** The owner of the secret: `password for keystore: X`. */
const WHOSE = String.raw`(?:\s(?:for|of|to)\s[\w./-]{1,64}(?=\s{0,8}[=:-]))?`

/** A label of a secret, and the extent of its value. */
interface Label {
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
  // A passphrase is several words.
  { pattern: new RegExp(String.raw`pass[-_ ]?phrase[\w-]{0,64}\\{0,4}["']?${SIGN}(\\{0,4})`, 'gi'), reach: 'line' },
]
const AFTER_SIGN = labels(`${ALWAYS}|${WITH_SIGN}|${SHORT}`, WHOSE + SIGN)

/** `Secret("…")`, `Password{…}`: Debug output of Rust. */
const IN_STRUCTURE: Label = {
  pattern: new RegExp(String.raw`(?:${ALWAYS})\w{0,64}(?=[({[][^)}\]])()`, 'gi'),
  reach: 'word',
}

const WITH_OR_WITHOUT_SIGN: readonly Label[] = [
  ...TO_THE_END,
  AFTER_SIGN,
  IN_STRUCTURE,
  labels(ALWAYS, String.raw`\s{1,8}(?!\s{0,8}(?:(?:is|was)\s|->|\u2192|${STATUS}|${PROSE}))`),
]
const ONLY_WITH_SIGN: readonly Label[] = [...TO_THE_END, AFTER_SIGN]

/** Matches a line that mentions secrets. */
const SUSPICIOUS = new RegExp(`${ALWAYS}|${WITH_SIGN}|${SHORT}|keystore|mnemonic|private`, 'i')

/** Replaces each value with a mark and keeps its label and quotation marks. */
const redactValues = (text: string, label: Label, redacted: () => string): string => {
  const parts: string[] = []
  let from = 0
  for (const found of text.matchAll(label.pattern)) {
    const begin = found.index + found[0].length
    // A label inside a value that is already redacted. One at its end has a value of its own: `secret --password X`.
    if (begin <= from || begin >= text.length) continue
    const value = valueAt(text, begin, { escape: found[1] ?? '', reach: label.reach })
    if (value.end <= value.begin || isMarked(text.slice(value.begin, value.end), label)) continue
    parts.push(text.slice(from, value.begin), redacted())
    from = value.end
  }
  return parts.join('') + text.slice(from)
}

const MARKED = new RegExp(`^${MARK}`)

/** For a value that extends to the end of the line, text after the mark is secret too. */
const isMarked = (value: string, { reach }: Label): boolean => {
  const [marked = ''] = MARKED.exec(value) ?? []
  return marked !== '' && (reach === 'word' || marked === value.trim())
}

/** A structure: `{…`, `[…`, `Secret { …`, `Secret(…`. */
const STRUCTURE = /\w{0,64}(?:\s?[{[]|\()/y
/** Up to the end of the enclosing quoted text. */
const LINE = /(?:[^"\\\n]|\\(?!\\{0,4}"))+/y
const OPTION = /--[\w-]{1,64}\s{1,4}(?!-)[^\s"'\\]+/y
const WORD = /(?:[^\s"'\\]|\\(?!\\{0,4}["']))+/y

interface Value {
  readonly escape: string
  readonly reach: Label['reach']
}

const valueAt = (text: string, at: number, { escape, reach }: Value) => {
  const [quote = ''] = text.slice(at, at + 1)
  if (quote === '"' || quote === "'") {
    const end = escape === '' ? closing(text, at + 1, quote) : text.indexOf(`${escape}${quote}`, at + 1)
    if (end < 0) return { begin: at + 1, end: text.length }
    // The parts of one word of a shell: 'a'\''b'.
    const more = quote === "'" ? matchesAt(SHELL, text, end) : 0
    return { begin: at + 1, end: end + Math.max(0, more - 1) }
  }
  if (reach === 'line') return { begin: at, end: at + matchesAt(LINE, text, at) }
  // The end of a structure is unknown: redact to the end.
  if (matchesAt(STRUCTURE, text, at) > 0) return { begin: at, end: text.length }
  // An option in place of the value has a value of its own.
  return { begin: at, end: at + (matchesAt(OPTION, text, at) || matchesAt(WORD, text, at)) }
}

const SHELL = /'(?:\\'|'[^'\n]*'?|"[^"\n]*"?|[\w$!@#%^&*-])+/y

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

/** Whether hex digits in a log are public: public keys, and hashes that are labelled as such. */
const isPublicHex = (digits: string, before: string): boolean => {
  const bare = digits.replace(/^0x/i, '')
  // The digits are part of a longer word.
  if (/\w$/.test(before)) return false
  if (bare.length === 66) return /^0[23]/.test(bare)
  return bare.length === 64 && (isCalled(HASHES, before) || BLOCK_LINE.test(before))
}

/** Execution's line of a block labels the block's id only `id`. */
const BLOCK_LINE = /__exec_block,bl= {0,20}\d{1,20},id=$/
const LABEL = /(?:^|[^\w-])([\w-]{1,40})\\{0,4}["']?\s{0,2}[=:(]?\s{0,2}(?:Some\()?\\{0,4}["']?$/
const HASHES = new Set([
  'hash',
  'root',
  'parent',
  'tx',
  'blockhash',
  'block id',
  'parent id',
  'topic',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
])
const COMMITS = new Set(['commit', 'revision'])
const INVOCATIONS = new Set(['invocation', 'invocation id'])

/** Matches the last words of the label: `block_id`, `parentHash`, `tx`. */
const isCalled = (names: ReadonlySet<string>, before: string): boolean => {
  const [, label = ''] = LABEL.exec(before) ?? []
  const words = label
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]/)
  return names.has(words.at(-1) ?? '') || names.has(words.slice(-2).join(' '))
}

/** Ids of git commits and systemd invocations. */
const isPublicId = (word: string, before: string): boolean =>
  (/^[0-9a-f]{40}$/.test(word) && isCalled(COMMITS, before)) ||
  (/^[0-9a-f]{32}$/.test(word) && isCalled(INVOCATIONS, before))

/** Whether a long word mixes characters like a token or base64, unlike names and numbers. */
const isLongWord = (padded: string, before: string): boolean => {
  const word = padded.replace(/=+$/, '')
  if (UUID.test(word)) return true
  if (!/\d/.test(word)) return /[a-z]/.test(word) && /[A-Z]/.test(word) && !isCamel(word)
  return (
    /[A-Za-z]/.test(word) &&
    !isName(word) &&
    !/^\d+[a-z]{1,3}$/.test(word) &&
    // Remaining digits of this length were found to be public.
    !/^(?:0x)?[0-9a-f]{64,66}$/i.test(word) &&
    !isPublicId(word, before)
  )
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** `TimeoutCertificate`, `X-Forwarded-For`, `eth_getBlockByNumber`. */
const isCamel = (word: string): boolean => word.split(/[_-]/).every((part) => CAMEL.test(part))
/** Two-letter words only from this list: random text is full of them. */
const CAMEL = /^[a-z]*(?:[A-Z]{1,5}[a-z]{2,}|By|Id|In|Is|No|Of|On|To)*[A-Z]{0,5}$/

/** `raptorcast_v2`, `ip-10-0-0-12`, `tokio-runtime-worker-3`. */
const isName = (word: string): boolean =>
  word.split(/[_-]/).every((part) => /^(?:(?:[a-z]*|[A-Z]*|[A-Z][a-z]*)\d{0,3}|\d{1,20})$/.test(part))

/** Whether a word with slashes is a path or a fraction rather than base64. */
const isPathLike = (word: string): boolean =>
  !word.includes('/') ||
  !(/[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word)) ||
  word.split('/').every((part) => part === '' || isName(part))
