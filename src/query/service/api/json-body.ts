import type { IncomingMessage } from 'node:http'
import { isObject, tryJson } from '../../../core/json.ts'
import { HttpError } from './http-error.ts'

/** Throws unless the content type is uncompressed JSON. */
export const checkType = ({ headers }: IncomingMessage): void => {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const isPlain = parameters.every((part) => part === '' || /^charset="?utf-?8"?$/.test(part))
  if (type !== 'application/json' || !isPlain)
    throw new HttpError('media_type', 'send the body as Content-Type: application/json')
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new HttpError('media_type', 'send the body uncompressed')
}

/**
 * Reads the body, up to `most` bytes. The rest of a larger body is read and discarded while the response is sent: if
 * the connection were closed, the client would not see the response. The request timeout of the server ends this.
 */
export const readBody = async (request: IncomingMessage, most: number): Promise<Buffer> => {
  const tooLarge = new HttpError('too_large', `the body is larger than ${most} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > most) {
        chunks.length = 0
        reject(tooLarge)
      } else chunks.push(chunk)
    })
    request.on('end', () => {
      resolve(Buffer.concat(chunks))
    })
    request.on('error', () => {
      // The client has disconnected, so this error is not sent.
      reject(new HttpError('bad_json', 'the body is incomplete'))
    })
  })
}

export type JsonObject = Readonly<Record<string, unknown>>

const DEEPEST = 16

/** Parses the object in a body. Duplicate keys are rejected: JSON parsers differ in which of the two they use. */
export const parseObject = (bytes: Uint8Array): JsonObject => {
  const text = decode(bytes)
  const value = tryJson(text)
  if (value === undefined) throw new HttpError('bad_json', 'the body is not valid JSON')
  if (!isObject(value)) throw new HttpError('bad_json', 'the body is not a JSON object')
  checkKeys(text)
  return value
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const decode = (bytes: Uint8Array): string => {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new HttpError('bad_json', 'the body is not UTF-8')
  }
}

/** An object with its keys so far, or a list with the current index. */
interface Level {
  readonly keys: Set<string> | null
  /** Undefined if the next string is a key. */
  at: string | number | undefined
}

/** Checks for duplicate keys and nesting depth. The text is known to be valid JSON. */
const checkKeys = (text: string): void => {
  const levels: Level[] = []
  for (let position = 0; position < text.length; position += 1) {
    const character = text[position]
    const level = levels.at(-1)
    if (character === '"') {
      const end = endOfString(text, position)
      if (level?.keys && level.at === undefined) addKey(levels, level.keys, text.slice(position, end + 1))
      position = end
    } else if (character === '{' || character === '[') {
      if (levels.length === DEEPEST) throw new HttpError('bad_json', 'the body is nested too deeply')
      levels.push(character === '{' ? { keys: new Set(), at: undefined } : { keys: null, at: 0 })
    } else if (character === '}' || character === ']') levels.pop()
    else if (character === ',' && level) level.at = typeof level.at === 'number' ? level.at + 1 : undefined
  }
}

const addKey = (levels: readonly Level[], keys: Set<string>, quoted: string): void => {
  const key = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
  const level = levels.at(-1)
  if (level) level.at = key
  if (keys.has(key)) throw new HttpError('bad_json', 'duplicate key', { path: pathOf(levels) })
  keys.add(key)
}

const endOfString = (text: string, start: number): number => {
  for (let position = start + 1; ; position += 1) {
    const character = text[position]
    if (character === '\\') position += 1
    else if (character === '"' || character === undefined) return position
  }
}

const LONGEST_PATH = 200

const pathOf = (levels: readonly Level[]): string =>
  levels.reduce((path, { at }) => join(path, at ?? ''), '').slice(0, LONGEST_PATH)

/** `logs[0].topics[1]` */
export const join = (path: string, step: string | number): string => {
  if (typeof step === 'number') return `${path}[${step}]`
  return path === '' ? step : `${path}.${step}`
}

/** A value of the body and its path. */
export interface InputValue {
  readonly value: unknown
  readonly path: string
}

const SHOWN = 60

/** Describes the received value, truncated so that an error never echoes the whole body. */
const describe = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

export const invalidValue = ({ value, path }: InputValue, expected: string): HttpError =>
  new HttpError('bad_value', `expected ${expected}, got ${describe(value)}`, { path })

export const member = (object: JsonObject, key: string, path = ''): InputValue => ({
  value: object[key],
  path: join(path, key),
})

export const readInteger = (input: InputValue): number => {
  const { value } = input
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw invalidValue(input, 'a whole number from 0 to 2^53-1')
  // JSON allows -0.
  return value + 0
}

/** Null is the same as absent. */
export const readOptionalInteger = (input: InputValue): number | null =>
  (input.value ?? null) === null ? null : readInteger(input)

/** Absent is empty. Reads at most `most` entries: a body can hold more than any limit allows. */
export const readList = (input: InputValue, most = Infinity): readonly InputValue[] => {
  const { value, path } = input
  if (value === undefined) return []
  if (!Array.isArray(value)) throw invalidValue(input, 'a list')
  const entries: readonly unknown[] = value
  return entries.slice(0, most).map((entry, index) => ({ value: entry, path: join(path, index) }))
}

/** An object with these keys only. */
export const readObject = (input: InputValue, keys: readonly string[]): JsonObject => {
  const { value, path } = input
  if (!isObject(value)) throw invalidValue(input, 'an object')
  const unknownKey = Object.keys(value).find((key) => !keys.includes(key))
  if (unknownKey === undefined) return value
  const name = unknownKey.length > SHOWN ? `${unknownKey.slice(0, SHOWN)}…` : unknownKey
  throw new HttpError('unknown_field', `unknown field; known fields: ${keys.join(', ')}`, {
    path: join(path, name),
  })
}

/** The selected names, without duplicates. */
export const readNames = <Name extends string>(input: InputValue, names: readonly Name[]): ReadonlySet<Name> =>
  new Set(
    readList(input).map((entry) => {
      const name = names.find((one) => one === entry.value)
      if (name === undefined) throw invalidValue(entry, `one of ${names.join(', ')}`)
      return name
    }),
  )
