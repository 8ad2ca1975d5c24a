import { isAscii } from 'node:buffer'
import { nextTurn } from './clock.ts'
import { ParseError } from './errors.ts'
import { LIMITS } from './limits.ts'
import { sanitize } from './redaction/redact.ts'

/**
 * Converts a value to JSON types: maps to objects, 64-bit integers to decimal strings, unknown to null. Texts and keys
 * are sanitized: a terminal that prints the JSON must not interpret what another program wrote.
 */
export const toJson = (value: unknown): unknown => convert(value, (leaf) => leaf)

/** The keys of timestamps, which the agent keeps in milliseconds since the epoch. */
const MOMENT = /^at$|At$/
/** The range of Date. */
const MAX_MS = 8.64e15

/** The same for the API: timestamps are RFC 3339; a timestamp out of range is null. */
export const toApiJson = (value: unknown): unknown =>
  convert(value, (leaf, key) => {
    if (typeof leaf !== 'number' || !MOMENT.test(key)) return leaf
    return Math.abs(leaf) <= MAX_MS ? new Date(leaf).toISOString() : null
  })

/** `key` is the key that holds the leaf. */
type ConvertLeaf = (leaf: unknown, key: string) => unknown

const convert = (value: unknown, leafOf: ConvertLeaf, key = ''): unknown => {
  if (value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  // Only the message: an error also carries the complete output of a tool, which is for parsers only.
  if (value instanceof Error) return sanitize(value.message)
  if (typeof value === 'string') return sanitize(value)
  if (value instanceof Map) {
    // The keys of a map are data, so its entries are converted by the key of the map.
    return Object.fromEntries([...value].map(([name, entry]) => [sanitize(String(name)), convert(entry, leafOf, key)]))
  }
  if (Array.isArray(value)) return value.map((entry) => convert(entry, leafOf, key))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [sanitize(name), convert(entry, leafOf, name)]),
    )
  }
  return leafOf(value, key)
}

/** What JSON may have before it is parsed. */
export interface JsonLimits {
  /** Levels of lists and objects. Each level takes fifty times its size in memory. */
  readonly depth: number
  /** Opening brackets and commas: at least the number of values. An empty object takes 60 bytes of memory. */
  readonly values: number
}

/** JSON as unknown data. Throws a ParseError naming `what` it was. */
export const parseJson = (what: string, text: string, limits: JsonLimits = LIMITS.json): unknown => {
  const value = tryJson(text, limits)
  if (value !== undefined) return value
  const exceeded = exceededLimit(Buffer.from(text), limits)
  const most = { depth: `JSON of at most ${limits.depth} levels`, values: `JSON of at most ${limits.values} values` }
  throw new ParseError(what, exceeded === undefined ? 'JSON' : most[exceeded], text)
}

/** JSON can contain a negative zero; no format uses it. */
export const withoutMinus = (value: number): number => value + 0

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON as unknown data; undefined for a text that is not JSON, or exceeds a limit. */
export const tryJson = (json: string | Buffer, limits: JsonLimits = LIMITS.json): unknown => {
  if (!(typeof json === 'string' && isSmall(json, limits))) {
    if (exceededLimit(typeof json === 'string' ? Buffer.from(json) : json, limits) !== undefined) return undefined
  }
  try {
    return JSON.parse(json.toString())
  } catch {
    return undefined
  }
}

/** Whether the text is too short to exceed a limit: a line of a log, of which there are thousands a second. */
const isSmall = (text: string, { depth, values }: JsonLimits): boolean => {
  if (text.length >= values) return false
  let brackets = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      brackets += 1
      if (brackets > depth) return false
    }
  }
  return true
}

/**
 * The limit that JSON exceeds. Ends at the first value too many and keeps nothing. Reads bytes: single characters of a long
 * text take several times as long.
 */
export const exceededLimit = (bytes: Uint8Array, limits: JsonLimits): keyof JsonLimits | undefined => {
  const scanner = new JsonScanner(viewOf(bytes), limits)
  try {
    scanner.readAll()
  } catch (error) {
    if (scanner.exceeded === undefined) throw error
  }
  return scanner.exceeded
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

type Span = Readonly<Record<'from' | 'until' | 'level', number>>

/** Finds the ends of values before they are parsed, and counts them. The methods throw at the first value or level too many. */
class JsonScanner {
  exceeded: keyof JsonLimits | undefined
  readonly #bytes: DataView
  readonly #limits: JsonLimits
  #values = 1

  constructor(bytes: DataView, limits: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  readAll(): void {
    this.#read({ from: 0, until: this.#bytes.byteLength, level: 0 }, false)
  }

  /**
   * The position of the comma or closing bracket after the value that begins here, on a level; the end of the bytes
   * without one. Undefined if it is not before `until`: then nothing of the value is counted.
   */
  endOf(span: Span): number | undefined {
    const before = this.#values
    const end = this.#read(span, true)
    if (end === undefined) this.#values = before
    return end
  }

  count(): void {
    this.#values += 1
    if (this.#values > this.#limits.values) this.#fail('values')
  }

  /** Counts an opening bracket; `level` is that of what it contains. */
  enter(level: number): void {
    if (level > this.#limits.depth) this.#fail('depth')
    this.count()
  }

  #fail(limit: keyof JsonLimits): never {
    this.exceeded = limit
    throw new RangeError(`more ${limit} than allowed`)
  }

  #read({ from, until, level }: Span, isOne: boolean): number | undefined {
    const { byteLength } = this.#bytes
    const last = Math.min(until, byteLength)
    let depth = level
    for (let at = from; at < last; at += 1) {
      const code = this.#bytes.getUint8(at)
      if (SIGNS[code] === 0) continue
      if (code === QUOTE) {
        at = endOfString(this.#bytes, at)
        if (at < 0) return byteLength
      } else if (code === BRACKET || code === BRACE) {
        depth += 1
        this.enter(depth)
      } else if (isOne && depth === level) return at
      else if (code === COMMA) this.count()
      else depth -= 1
    }
    return until >= byteLength ? byteLength : undefined
  }
}

/** The closing quote of the string that begins here; -1 without one. Compares four bytes at a time. */
export const endOfString = (bytes: DataView, begin: number): number => {
  let at = begin + 1
  for (const last = bytes.byteLength - 4; at <= last; at += 4) {
    const four = bytes.getInt32(at)
    if (hasZero(four ^ FOUR_QUOTES) || hasZero(four ^ FOUR_BACKSLASHES)) break
  }
  for (; at < bytes.byteLength; at += 1) {
    const code = bytes.getUint8(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return -1
}

/** Whether one of the four bytes is 0. May be true of others next to a 0. */
const hasZero = (four: number): boolean => ((four - 0x0101_0101) & ~four & 0x8080_8080) !== 0

/** Bytes that JSON.parse takes at once in `parseInSteps`: 25 ms if each object has other keys. */
const STEP_LENGTH = 256 * 1024

/**
 * The same as `tryJson`, for a text whose parse would block the event loop: the entries of long lists and objects are
 * parsed in steps, and other work is done between them. A parse in a worker thread blocks longer, because its result has
 * to be cloned.
 */
export const parseInSteps = async (bytes: Buffer, limits: JsonLimits, length = STEP_LENGTH): Promise<unknown> => {
  const parser = new StepParser(bytes, limits, length)
  const steps = parser.value(0)
  try {
    for (;;) {
      const { done, value } = steps.next()
      if (done) return parser.isAtEnd() ? value : undefined
      await nextTurn()
    }
  } catch {
    return undefined
  }
}

/** Parses values in steps. A method leaves its position after what it parsed, and throws for anything else. */
class StepParser {
  #at = 0
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #scanner: JsonScanner
  /** The most bytes that one step parses, unless they are one string. */
  readonly #length: number
  readonly #encoding: 'latin1' | 'utf8'

  constructor(bytes: Buffer, limits: JsonLimits, length: number) {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#scanner = new JsonScanner(this.#view, limits)
    this.#length = length
    // Decoding ASCII as latin1 is three times as fast.
    this.#encoding = isAscii(bytes) ? 'latin1' : 'utf8'
  }

  isAtEnd(): boolean {
    return this.#skipSpace() === undefined
  }

  *value(level: number): Generator<undefined, unknown> {
    const code = this.#skipSpace()
    const begin = this.#at
    const end = this.#scanner.endOf({ from: begin, until: begin + this.#length, level })
    if (end === undefined && (code === BRACKET || code === BRACE)) return yield* this.#entries(code, level + 1)
    this.#at = end ?? this.#scanner.endOf({ from: begin, until: Infinity, level }) ?? this.#bytes.length
    const value = this.#parse(begin, this.#at)
    yield
    return value
  }

  /** The entries of a list, or the members of an object. Short ones are parsed together. */
  *#entries(open: number, level: number): Generator<undefined, unknown> {
    this.#scanner.enter(level)
    this.#at += 1
    const isList = open === BRACKET
    const parts: unknown[] = []
    /** Short entries that are not parsed yet. */
    let [start, stop] = [this.#at, this.#at]
    const parseShort = (): void => {
      if (start < stop) parts.push(this.#parse(start, stop, isList ? ['[', ']'] : ['{', '}']))
    }
    for (let [isFirst, isLast] = [true, false]; !isLast; isFirst = false) {
      this.#skipSpace()
      const begin = this.#at
      const end = this.#scanner.endOf({ from: begin, until: begin + this.#length, level })
      if (end === undefined) {
        parseShort()
        parts.push(isList ? [yield* this.value(level)] : yield* this.#member(level))
      } else this.#at = stop = end
      isLast = this.#isLast(open)
      if (end === begin && !(isFirst && isLast)) throw new SyntaxError('there is no value')
      if (end !== undefined && !isLast && stop - start <= this.#length) continue
      if (end !== undefined) parseShort()
      yield
      start = stop = this.#at
    }
    if (isList) return parts.flat()
    // Creates a property even for `__proto__`.
    return Object.fromEntries(parts.flatMap((part) => (isObject(part) ? Object.entries(part) : [])))
  }

  *#member(level: number): Generator<undefined, unknown> {
    const isKey = this.#skipSpace() === QUOTE
    const begin = this.#at
    this.#at = endOfString(this.#view, begin) + 1
    const key = isKey && this.#parse(begin, this.#at)
    if (typeof key !== 'string' || this.#skipSpace() !== COLON) throw new SyntaxError('not a member of an object')
    this.#at += 1
    return Object.fromEntries([[key, yield* this.value(level)]])
  }

  /** Whether the list or object that `open` opened ends here; otherwise there is a comma. */
  #isLast(open: number): boolean {
    const code = this.#skipSpace()
    this.#at += 1
    if (code === open + 2) return true
    if (code !== COMMA) throw new SyntaxError('a list or object is not closed')
    this.#scanner.count()
    return false
  }

  /** Returns the character after it; undefined at the end. */
  #skipSpace(): number | undefined {
    while (SPACES.has(this.#bytes[this.#at] ?? 0)) this.#at += 1
    return this.#bytes[this.#at]
  }

  #parse(begin: number, end: number, [open, close] = ['', '']): unknown {
    return JSON.parse(`${open}${this.#bytes.toString(this.#encoding, begin, end)}${close}`)
  }
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09])
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BRACE = 0x7b
const FOUR_QUOTES = 0x2222_2222
const FOUR_BACKSLASHES = 0x5c5c_5c5c

/** 1 for the characters that structure JSON. */
const SIGNS = new Uint8Array(256)
for (const sign of '"[]{},') SIGNS[sign.charCodeAt(0)] = 1
