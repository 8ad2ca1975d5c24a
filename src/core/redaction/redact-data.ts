import { redactDocument, type RedactionCount } from './redact-log.ts'
import { redact, REDACTED } from './redact.ts'

/**
 * Redacts JSON value by value, before it is written: what is written can be read again. The name of a field decides
 * about its text only.
 */
export const redactFields = (value: unknown, count: RedactionCount, field = ''): unknown => {
  if (typeof value === 'string') return redactField(field, value, count)
  if (Array.isArray(value)) return value.map((entry) => redactFields(entry, count, field))
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' && isSecretField(field) ? redactField(field, String(value), count) : value
  const entries = new Map<string, unknown>()
  for (const [name, entry] of Object.entries(value)) {
    const shown = isSecretField(name) ? name : redact(redactDocument(name, count))
    // Two names may be one without their secrets.
    const place = entries.has(shown) ? `${shown} (${entries.size + 1})` : shown
    entries.set(place, redactFields(entry, count, name))
  }
  return Object.fromEntries(entries)
}

const redactField = (field: string, text: string, count: RedactionCount): string => {
  if (text === '' || text === REDACTED) return text
  if (isSecretField(field)) {
    count('labelled')
    return REDACTED
  }
  return redact(isPublic(field, text) ? text : redactDocument(text, count))
}

/** `apiKey`, `x-api-key`, `passwords`; not `apiKeysFile`, `passwordBackup`, and `pendingTokens`, which are amounts. */
const isSecretField = (field: string): boolean => SECRET_FIELD.test(field.toLowerCase().replaceAll(/[^a-z\d]/g, ''))
const SECRET_FIELD =
  /(?:pass(?:word|phrase|wd|code)|^pass|pwd|mnemonic|seed|(?:seed|recovery)(?:phrase|words)|secret|ikm|(?:auth|access|api|bearer|refresh|session)token|(?:api|private|secret|signing|access|encryption|session|auth|master)key|cookie|authorization|credential)s?$/

/** Ids of builds, runs and blocks, public keys and signatures: what they look like is no secret. */
const isPublic = (field: string, text: string): boolean => PUBLIC_FIELDS.has(field) && /^(?:0x)?[\da-f-]+$/i.test(text)
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(
  'author blsPublicKey boot commit hash id identity invocation nodeSignature parentHash process publicKey revision secpPublicKey stateRoot'.split(
    ' ',
  ),
)

const LABEL = /\b([a-z_]\w*)="((?:[^"\\]|\\.)*)"/gi

/** Redacts a page of metrics: names and help are the agent's own, values of labels may not be. */
export const redactExposition = (text: string, count: RedactionCount): string =>
  text
    .split('\n')
    .map((line) =>
      line.startsWith('#')
        ? line
        : line.replaceAll(
            LABEL,
            (_, label: string, value: string) => `${label}="${escaped(redactField(label, unescaped(value), count))}"`,
          ),
    )
    .join('\n')

/** The escapes of a label value: backslash, quotation mark, newline. */
const unescaped = (value: string): string =>
  value.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
const escaped = (value: string): string =>
  value.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? String.raw`\n` : `\\${sign}`))
