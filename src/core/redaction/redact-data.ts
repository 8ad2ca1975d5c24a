import { redactDocument, type RedactionCount } from './redact-log.ts'
import { REDACTED } from './redact.ts'

/**
 * Redacts JSON value by value, before it is written: what is written can be read again. The name of a field decides
 * about its text only.
 */
export const redactFields = (value: unknown, count: RedactionCount, field = ''): unknown => {
  if (typeof value === 'string') return redactField(field, value, count)
  if (Array.isArray(value)) return value.map((entry) => redactFields(entry, count, field))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [redactDocument(name, count), redactFields(entry, count, name)]),
  )
}

const redactField = (field: string, text: string, count: RedactionCount): string => {
  if (isPublic(field, text) || text === '' || text === REDACTED) return text
  if (!SECRET_FIELD.test(field)) return redactDocument(text, count)
  count('labelled')
  return REDACTED
}

/** `apiKey`, `password`; not `apiKeysFile` and `passwordBackup`. */
const SECRET_FIELD =
  /^\w*(?:pass(?:word|phrase|wd)|mnemonic|secret|ikm|(?:api|private)[-_ ]?key|cookie|authorization)$/i

/** Ids of builds, runs and blocks, public keys and signatures, and paths: what they look like is no secret. */
const isPublic = (field: string, text: string): boolean =>
  (PUBLIC_FIELD.test(field) && /^(?:0x)?[\da-f-]+$/i.test(text)) || /^\/[a-z]{2,16}(?:\/[\w.@-]{1,64})*$/.test(text)
const PUBLIC_FIELD = /^(?:boot|commit|id|identity|invocation|process|revision|\w*(?:Hash|Id|PublicKey|Signature))$/

/** Redacts a page of metrics: names and help are the agent's own, values of labels may not be. */
export const redactExposition = (text: string, count: RedactionCount): string =>
  text
    .split('\n')
    .map((line) =>
      line.startsWith('#')
        ? line
        : line.replaceAll(
            /\b([a-z_]+)="((?:[^"\\]|\\.)*)"/g,
            (_, label: string, value: string) => `${label}="${redactField(label, value, count)}"`,
          ),
    )
    .join('\n')
