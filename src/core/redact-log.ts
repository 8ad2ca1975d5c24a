import { type Label, ONLY_WITH_SIGN, redactValues, SUSPICIOUS, WITH_OR_WITHOUT_SIGN } from './labelled-secrets.ts'
import { isLongWord, isPathLike, isPublicHex } from './log-words.ts'
import { sanitize } from './sanitize.ts'
import { REDACTED, redactUrl } from './redact.ts'

export const REDACTION_KINDS = ['address', 'phrase', 'labelled', 'credentials', 'hex digits', 'long word'] as const

/** Why something was redacted. */
export type RedactionKind = (typeof REDACTION_KINDS)[number]
type Count = (kind: RedactionKind) => void

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

const ADDRESS = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]+/gi
/** `user:password@host` without a scheme. */
const LOGIN = /(?<![\w.+-])([\w.+-]{1,64}):(?!\(redacted\))[^\s@/"'\\]{1,256}@(?=[\w[])/g

const redactAddresses = (text: string, count: Count): string =>
  text
    .replaceAll(ADDRESS, (address) => {
      const shown = redactUrl(address)
      if (shown.endsWith('/\u2026') && shown !== address) count('address')
      return shown === '(not a URL)' ? mark('address', count) : shown
    })
    .replaceAll(LOGIN, (_, user: string) => `${user}:${mark('address', count)}@`)

const MARK = String.raw`\((?:redacted|hex digits|long word)\)`
const PHRASE = new RegExp(`((?:mnemonic|(?:seed|recovery)[-_ ]?(?:phrase|words))\\w{0,32})(?! ${MARK}$)[^]*`, 'gi')
const BETWEEN = String.raw`(?:\s{1,4}|\s?\\{0,4}["']?\s?[,;]\s?\\{0,4}["']?|\s?[,;]?\s?\(?\d{1,2}[.:)=]\s?)`
/** Twelve or more words of the length of mnemonic words, in any list format. */
const WORDS = new RegExp(`\\b(?:[a-z]{3,8}${BETWEEN}){11,}[a-z]{3,8}\\b`, 'gi')
const CREDENTIALS = new RegExp(`\\b(bearer|basic)\\s+(?!${MARK})[^\\s"']+`, 'gi')

const redactLabelled = (text: string, labels: readonly Label[], count: Count): string => {
  const before = text
    .replaceAll(PHRASE, (_, label: string) => `${label} ${mark('phrase', count)}`)
    .replaceAll(WORDS, () => mark('phrase', count))
    .replaceAll(CREDENTIALS, (_, label: string) => `${label} ${mark('credentials', count)}`)
  return labels.reduce((left, label) => redactValues(left, label, () => mark('labelled', count)), before)
}

const HEX = /(?:0x)?[0-9a-f]{64,}/gi
const WITH_SLASHES = /(?<![\w.+-])[A-Za-z0-9+/]{24,}={0,2}(?![\w.-])/g
/** The address of a contract or an account. It is public, and no private key is that short. */
const CONTRACT = /^0x[0-9a-f]{40}$/i
const LONG = /[A-Za-z0-9+_-]{16,}={0,2}/g

const redactWords = (text: string, count: Count): string => {
  // If a line mentions secrets, no hex digits in it are considered public.
  const isSuspicious = SUSPICIOUS.test(text)
  return text
    .replaceAll(HEX, (digits, at: number, whole: string) => {
      if (!isSuspicious && isPublicHex(digits, whole.slice(Math.max(0, at - 96), at))) return digits
      count('hex digits')
      return `${digits.startsWith('0x') ? '0x' : ''}(hex digits)`
    })
    .replaceAll(WITH_SLASHES, (word) => (isPathLike(word) ? word : longWord(count)))
    .replaceAll(LONG, (word, at: number, whole: string) =>
      isLongWord(word, whole.slice(Math.max(0, at - 96), at)) && (isSuspicious || !CONTRACT.test(word))
        ? longWord(count)
        : word,
    )
}

const mark = (kind: RedactionKind, count: Count): string => {
  count(kind)
  return REDACTED
}

const longWord = (count: Count): string => {
  count('long word')
  return '(long word)'
}
