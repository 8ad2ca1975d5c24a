/** The text that replaces a secret. */
export const REDACTED = '(redacted)'

/**
 * Reduces a URL to scheme, host and port. Keys can be in user names, passwords, paths and queries
 * (`https://host/v2/KEY`).
 */
export const redactUrl = (text: string): string => {
  const cluster = SEVERAL.exec(text)?.groups
  if (cluster !== undefined) return several(cluster)
  if (!URL.canParse(text)) return '(not a URL)'
  const url = new URL(text)
  const more = url.pathname !== '/' || url.search !== '' || url.username !== '' || url.hash !== ''
  return more ? `${url.protocol}//${url.host}/…` : `${url.protocol}//${url.host}`
}

/** The servers of a cluster. An `@` after them would be the end of a password. */
const SEVERAL =
  /^(?<scheme>[a-z][a-z0-9+.-]{0,20}:\/\/)(?<user>[^@/?#]*@)?(?<hosts>[^@/?#,]+(?:,[^@/?#,]+)+)(?<rest>[/?#][^@]*)?$/i

const several = ({ scheme = '', user = '', hosts = '', rest = '' }: Record<string, string>): string => {
  if (!hosts.split(',').every((host) => URL.canParse(`${scheme}${host}`))) return '(not a URL)'
  return user === '' && (rest === '' || rest === '/') ? `${scheme}${hosts}` : `${scheme}${hosts}/…`
}

/** Redacts a text that may leave the host: credentials in URLs, and home directories. */
export const redact = (text: string): string =>
  // Both have a slash, and few texts of a reading have one.
  text.includes('/') ? redactParts(text) : text

const redactParts = (text: string): string =>
  text
    // Punctuation after a URL is not part of it.
    .replaceAll(/[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]*[^\s"'<>:,.;)]/gi, redactUrl)
    .replaceAll(/\/(?:home\/[^/\s:"']+|root)(?=\/|\b)/g, '~')

/** Replaces every string in a value, at any depth. Other values are kept, and so are the types of objects. */
const mapTexts = (value: unknown, map: (text: string) => string): unknown => {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((entry) => mapTexts(entry, map))
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return new Error(map(value.message))
  if (value instanceof Map)
    return new Map([...value].map((entry) => [mapTexts(entry[0], map), mapTexts(entry[1], map)]))
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [map(key), mapTexts(entry, map)]))
}

/** Sanitizes and redacts every string in a value. */
export const redactAll = (value: unknown): unknown => mapTexts(value, (text) => redact(sanitize(text)))

/** A configuration value for display: every URL is reduced to its host. */
export const maskAddresses = (value: unknown): unknown =>
  mapTexts(value, (text) => (text.includes('://') ? redactUrl(text.trim()) : text))

/**
 * Terminal control sequences, 7-bit and 8-bit: colours, cursor movement, titles, queries. An 8-bit colour sequence that
 * was decoded from bytes leaves U+FFFD.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- these characters are what is removed
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]{0,8}[0-Z\\^-~]|\ufffd\d[\d;]{0,16}m/g
/**
 * Characters without width, or that change the text direction. They are removed, so that a word reads as if they were
 * absent.
 */
const WITHOUT_WIDTH = /\p{Default_Ignorable_Code_Point}/gu
/** Control characters between two letters, most of which are invisible. */
const WITHIN_WORDS =
  // oxlint-disable-next-line no-control-regex -- these characters are what is removed
  /(?<=\w)[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]{1,16}(?=\w)/g
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- these characters are what is removed
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/g

/** The beginning of another program's text on one line, without what a terminal would interpret. */
export const plainText = (text: string, limit: number): string =>
  sanitize(text.slice(0, 2 * limit))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, limit)

/**
 * Removes everything from a text that a terminal would interpret or that hides a word from redaction. Line breaks are
 * kept.
 */
export const sanitize = (text: string): string =>
  // Most texts are printable ASCII, and an answer of the API has thousands of them.
  /^[\n -~]*$/.test(text)
    ? text
    : text
        .replaceAll(/\r\n/g, '\n')
        .replaceAll(SEQUENCES, '')
        .replaceAll(WITHOUT_WIDTH, '')
        .replaceAll(WITHIN_WORDS, '')
        .replaceAll(CONTROLS, (sign) => (sign === '\t' ? ' ' : '\ufffd'))
