import { isUtf8 } from 'node:buffer'
import { endOfString, exceededLimit, isObject, type JsonLimits } from '../../../src/core/json.ts'
import { HttpError } from './http-error.ts'

const UTF8 = new TextDecoder()

/**
 * The JSON object in a body. Nothing is parsed of a body that exceeds a limit. Duplicate keys are rejected: JSON parsers
 * differ in which of the two they use. Throws an HttpError.
 */
export const parseBody = (body: Buffer, limits: JsonLimits): Readonly<Record<string, unknown>> => {
  const exceeded = exceededLimit(body, limits)
  if (exceeded === 'depth') throw new HttpError('bad_json', 'the body is nested too deeply')
  if (exceeded === 'values') throw new HttpError('too_many', `more than ${limits.values} JSON values in one request`)
  const value = parse(body)
  if (!isObject(value)) throw new HttpError('bad_json', 'the body is not a JSON object')
  checkKeys(body)
  return value
}

/** Bytes that are not UTF-8 are not JSON either. */
const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(isUtf8(body) ? UTF8.decode(body) : '')
  } catch {
    throw new HttpError('bad_json', 'the body is not valid JSON in UTF-8')
  }
}

/** `logs[0].topics[1]` */
export const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')

/** An object with its keys so far, or a list with the current index. */
interface Level {
  readonly keys: Set<string> | null
  /** Null if the next string is a key. */
  at: string | number | null
}

/** Checks for duplicate keys. The body is known to be valid JSON. */
const checkKeys = (body: Buffer): void => {
  const levels: Level[] = []
  let level: Level | undefined
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  for (let position = 0; position < body.length; position += 1) {
    const code = body[position] ?? 0
    if (code === QUOTE) {
      const end = endOfString(view, position)
      if (level?.keys && level.at === null) {
        level.at = String(JSON.parse(body.toString('utf8', position, end + 1)))
        if (level.keys.has(level.at)) throw new HttpError('bad_json', 'duplicate key', { path: pathOf(levels) })
        level.keys.add(level.at)
      }
      position = end
    } else if (code === BRACE || code === BRACKET) {
      level = code === BRACE ? { keys: new Set(), at: null } : { keys: null, at: 0 }
      levels.push(level)
    } else if (code === BRACE + 2 || code === BRACKET + 2) {
      levels.pop()
      level = levels.at(-1)
    } else if (code === POINT) checkFraction(body, position, levels)
    else if (code === COMMA && level) level.at = typeof level.at === 'number' ? level.at + 1 : null
  }
}

const pathOf = (levels: readonly Level[]): string => formatPath(levels.map(({ at }) => at ?? '')).slice(0, 200)

/** JSON.parse rounds the fraction of a large number away. */
const checkFraction = (body: Buffer, position: number, levels: readonly Level[]): void => {
  const before = /-?\d+$/.exec(body.toString('latin1', Math.max(0, position - 20), position))?.[0] ?? ''
  const after = /^\.\d+/.exec(body.toString('latin1', position, position + 20))?.[0] ?? ''
  const isRounded = Number.isInteger(Number(before + after)) && /[1-9]/.test(after)
  if (!isRounded) return
  throw new HttpError('bad_value', `expected a whole number, got ${before}${after}`, { path: pathOf(levels) })
}

const QUOTE = 0x22
const POINT = 0x2e
const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b
