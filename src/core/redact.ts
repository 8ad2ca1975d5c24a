/**
 * What may be shown of an address. Keys hide in user names, passwords, paths and queries alike
 * (`https://host/v2/KEY`), so only scheme, host and port are left.
 */
export const redactUrl = (text: string): string => {
  if (!URL.canParse(text)) return '(not a URL)'
  const url = new URL(text)
  const more = url.pathname !== '/' || url.search !== '' || url.username !== '' || url.hash !== ''
  return more ? `${url.protocol}//${url.host}/…` : `${url.protocol}//${url.host}`
}

/** Takes out of a text what must not leave the host: credentials in addresses, and home directories. */
export const redact = (text: string): string =>
  text
    // What ends the address in a sentence is not of it.
    .replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]*[^\s"'<>:,.;)]/gi, redactUrl)
    .replaceAll(/\/(?:home\/[^/\s:"']+|root)(?=\/|\b)/g, '~')

/** The same for every text in a value, however deep. */
export const redactAll = (value: unknown): unknown => {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map(redactAll)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [redact(key), redactAll(entry)]),
  )
}

/** A value of the configuration as it may be shown: whatever looks like an address is cut down to its host. */
export const maskAddresses = (value: unknown): unknown => {
  if (typeof value === 'string') return value.includes('://') ? redactUrl(value.trim()) : value
  if (Array.isArray(value)) return value.map(maskAddresses)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, maskAddresses(entry)]),
  )
}

const LABELLED =
  /((?:password|passphrase|passwd|ikm|secret|mnemonic|token|api[-_ ]?key|private[-_ ]?key)[\w-]*["']?\s*(?:is|was|[=:])?\s*["']?)(?!\(struck)[^\s"',;:=][^\s"',;]*/gi

/** What is many words by nature, or stands in quotes. */
const PHRASE = /\b(mnemonic|seed[- ]?phrase|recovery[- ]?phrase)\b.*/gi
const QUOTED =
  /((?:password|passphrase|passwd|secret|token)[\w-]*["']?\s*(?:is|was|[=:])\s*)(["'])(?:(?!\2).)*\2/gi
const CREDENTIALS = /\b(bearer|basic)\s+\S+/gi

/** Letters and digits mixed in one long word: ids, tokens, base64. */
const DENSE = /(?=[A-Za-z+=_-]*\d)(?=[\d+=_-]*[A-Za-z])[A-Za-z0-9+=_-]{16,}/g

/**
 * Strikes out what may be key material in a text that a tool printed: whatever a label names as such,
 * any run of hex digits that is as long as a private key, and any long word that looks like no word.
 * Units pass passwords on command lines, and a tool that fails may print its own.
 */
export const strikeSecrets = (text: string): string =>
  text
    .replaceAll(PHRASE, '$1 (struck out)')
    .replaceAll(QUOTED, '$1$2(struck out)$2')
    .replaceAll(CREDENTIALS, '$1 (struck out)')
    .replaceAll(LABELLED, '$1(struck out)')
    .replaceAll(/[0-9a-fA-F]{64,}/g, '(hex digits)')
    .replaceAll(DENSE, '(long word)')
