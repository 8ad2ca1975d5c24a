import { Refusal } from './refusal.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const DEEPEST = 16

/** The object in a body. A key that is there twice is refused: readers differ in which of the two they take. */
export const parseObject = (bytes: Uint8Array): JsonObject => {
  const text = decode(bytes)
  const value = parse(text)
  if (!isObject(value)) throw new Refusal('bad_json', 'the body is no JSON object')
  checkKeys(text)
  return value
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const decode = (bytes: Uint8Array): string => {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Refusal('bad_json', 'the body is not UTF-8')
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('bad_json', 'the body is no JSON')
  }
}

/** An object with its keys so far, or a list with its position. */
interface Level {
  readonly keys: Set<string> | null
  /** Undefined where the next text is a key. */
  at: string | number | undefined
}

/** Walks over what has been parsed: it is JSON. */
const checkKeys = (text: string): void => {
  const levels: Level[] = []
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place]
    const level = levels.at(-1)
    if (sign === '"') {
      const end = endOfString(text, place)
      if (level?.keys && level.at === undefined)
        takeKey(levels, level.keys, text.slice(place, end + 1))
      place = end
    } else if (sign === '{' || sign === '[') {
      if (levels.length === DEEPEST) throw new Refusal('bad_json', 'the body is nested too deep')
      levels.push(sign === '{' ? { keys: new Set(), at: undefined } : { keys: null, at: 0 })
    } else if (sign === '}' || sign === ']') levels.pop()
    else if (sign === ',' && level)
      level.at = typeof level.at === 'number' ? level.at + 1 : undefined
  }
}

const takeKey = (levels: readonly Level[], keys: Set<string>, quoted: string): void => {
  const key = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
  const level = levels.at(-1)
  if (level) level.at = key
  if (keys.has(key)) throw new Refusal('bad_json', 'a key is there twice', { path: pathOf(levels) })
  keys.add(key)
}

const endOfString = (text: string, start: number): number => {
  for (let place = start + 1; ; place += 1) {
    const sign = text[place]
    if (sign === '\\') place += 1
    else if (sign === '"' || sign === undefined) return place
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
