import { excerpt } from './errors.ts'
import { isObject, tryJson } from './json.ts'

/** Only this many characters of a body are searched. */
const SEARCHED_LENGTH = 16_384

/** The fields of a JSON object with the reason; `title` and `detail` are those of RFC 9457. All that exist are used. */
const FIELDS = ['title', 'message', 'msg', 'reason', 'detail', 'details', 'error_description'] as const
/** Fields with the reason, or with an object that has it, as in JSON-RPC. */
const OUTER_FIELDS = ['error', 'errors'] as const
const MAX_DEPTH = 4

/**
 * The reason in the body of an error response: the text of a JSON object, or of an HTML page without its markup; the
 * body itself if it is neither. Not redacted.
 */
export const reasonIn = (body: string): string => {
  const text = body.trim()
  if (text.startsWith('<')) return textOfHtml(text.slice(0, SEARCHED_LENGTH)) || text
  return (text.startsWith('{') ? reasonOf(tryJson(text)) : undefined) ?? text
}

/** The reason in a parsed response; undefined if it has no field for it. */
const reasonOf = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim()
  if (Array.isArray(value)) return depth < MAX_DEPTH ? reasonOf(value[0], depth + 1) : undefined
  if (!isObject(value) || depth >= MAX_DEPTH) return undefined
  const own = FIELDS.flatMap((field) => reasonOf(value[field], depth + 1) ?? [])
  const inner = OUTER_FIELDS.flatMap((field) => reasonOf(value[field], depth + 1) ?? [])
  const texts = [...new Set([...inner, ...own])]
  return texts.length === 0 ? undefined : texts.join(': ')
}

/** Whether the value of a field `error` reports an error: not null, false, 0, or empty. */
const isReported = (error: unknown): boolean => Boolean(error) && !(Array.isArray(error) && error.length === 0)

/** The error in a parsed response; undefined if it has none, or has one of these keys and no field `error`. */
export const errorOf = (value: unknown, answerKeys: readonly string[]): string | undefined => {
  if (!isObject(value)) return undefined
  const hasAnswer = answerKeys.some((key) => Object.hasOwn(value, key))
  return hasAnswer && !isReported(value['error'] ?? value['errors']) ? undefined : reasonOf(value)
}

const textOfHtml = (html: string): string =>
  html
    .replaceAll(/<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1>|$)|<[^<>]*>/gi, ' ')
    .replaceAll(/&(nbsp|amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const ENTITIES: Readonly<Record<string, string>> = { nbsp: ' ', amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The longest text of a state, in characters. Changes of a state are logged. */
const STATE_LENGTH = 120

/** The reason of a server in a form that is equal for repetitions: redacted, and without words that contain a digit. */
export const stableReason = (body: string): string => {
  const text = excerpt(reasonIn(body)).replaceAll(/\S*\d\S*/g, '…')
  return text.length > STATE_LENGTH ? `${text.slice(0, STATE_LENGTH).trimEnd()}…` : text
}
