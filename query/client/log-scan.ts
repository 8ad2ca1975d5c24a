import { isObject, tryJson } from '../../src/core/json.ts'
import { TOPICS } from '../log-fields.ts'
import type { ScannedLogs } from './types.ts'
import { logObjectsOf, PAGE_JSON, readEnvelope, type ShapeError } from './wire-format.ts'

const POSITIONS = 7
const HEX_FIELDS = ['address', ...TOPICS, 'data']
const DATA = HEX_FIELDS.indexOf('data')

export const DIFFERENT_LOGS = 'a scan and a parse count different logs'
const EMPTY_LIST = '"logs":[]'
const QUOTED_LOGS = Buffer.from('"logs"')
const BACKSLASH = '\\'
/** The most characters from the key `logs` to its list. */
const MAX_GAP = 16
/** A page has an entry of about 30 bytes per block. */
const MAX_OUTSIDE_BYTES = 8 * 1024 * 1024

/**
 * Finds the logs of a page in its bytes, in a tenth of the time of a parse. All logs must have the layout of the first one.
 * Returns undefined for any other page, which must then be parsed. What is outside the lists of logs is parsed as JSON.
 */
export const scanPage = (body: Buffer, shapeError: ShapeError) => {
  const scanner = new LogScanner(body)
  const outside: string[] = []
  let size = 0
  let from = 0
  const keep = (end: number): boolean => {
    size += end - from
    if (size <= MAX_OUTSIDE_BYTES) outside.push(body.toString('utf8', from, end))
    return size <= MAX_OUTSIDE_BYTES
  }
  for (;;) {
    const key = body.indexOf(QUOTED_LOGS, from)
    if (key === -1) break
    const start = body.indexOf('[', key) + 1
    if (start === 0 || start - key > MAX_GAP || !keep(start) || !scanner.list(start)) return undefined
    from = scanner.at
  }
  if (!keep(body.length)) return undefined
  const text = outside.join('')
  // Without an escape each match of the quoted key is a complete string.
  const response = text.includes(BACKSLASH) ? undefined : tryJson(text, PAGE_JSON)
  if (!isObject(response) || !Array.isArray(response['data'])) return undefined
  const entries: readonly unknown[] = response['data']
  const lists = entries.filter((entry) => isObject(entry) && Array.isArray(entry['logs'])).length
  if (lists !== scanner.lists) {
    // JSON.parse keeps the last of two equal keys. A list of this name may be elsewhere.
    if (JSON.stringify(response).split(EMPTY_LIST).length > scanner.lists) return undefined
    throw shapeError(DIFFERENT_LOGS, `${scanner.lists} and ${lists} lists`)
  }
  const envelope = readEnvelope(response, shapeError)
  logObjectsOf(entries, shapeError)
  return { envelope, logs: scanner.result() }
}

type FieldKind = 'block' | 'index' | 'hash' | 'data' | 'removed' | 'other'

/** A field of a log and the bytes before its value, for example `,"topic1":`. */
interface Field {
  readonly kind: FieldKind
  /** The number of digits of a hash. */
  readonly width: number
  readonly slot: number
  readonly length: number
  /** The bytes in chunks of four, with the start of each chunk. The last chunk may overlap the one before. */
  readonly chunks: Int32Array
  readonly starts: Int32Array
}

const KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['block_number', 'block'],
  ['log_index', 'index'],
  ...['address', ...TOPICS].map((name) => [name, 'hash'] as const),
  ['data', 'data'],
  ['removed', 'removed'],
])

const BEFORE_VALUE = /[ \t\r\n]*[{,][ \t\r\n]*"(\w+)"[ \t\r\n]*:[ \t\r\n]*/y
const VALUE = /\w+|"[^"\\]*"/y

/** The fields of a log in their order; undefined if the scanner cannot read them. */
const layoutOf = (log: string): readonly Field[] | undefined => {
  const fields = new Map<string, Field>()
  if (!isObject(tryJson(log))) return undefined
  for (let at = 0; log.slice(at).trim() !== '}';) {
    BEFORE_VALUE.lastIndex = at
    const [before, name] = BEFORE_VALUE.exec(log) ?? []
    VALUE.lastIndex = BEFORE_VALUE.lastIndex
    if (before === undefined || name === undefined || fields.has(name) || !VALUE.test(log)) return undefined
    const width = name === 'address' ? 40 : WORD_DIGITS
    fields.set(name, { kind: KINDS.get(name) ?? 'other', slot: HEX_FIELDS.indexOf(name), width, ...chunksOf(before) })
    at = VALUE.lastIndex
  }
  return fields.has('block_number') && fields.has('log_index') ? [...fields.values()] : undefined
}

const chunksOf = (text: string): Pick<Field, 'length' | 'chunks' | 'starts'> => {
  const bytes = Buffer.from(text, 'latin1')
  const { length } = bytes
  const starts = Int32Array.from({ length: Math.ceil(length / 4) }, (_, four) => Math.min(4 * four, length - 4))
  return { length, starts, chunks: starts.map((start) => bytes.readInt32BE(start)) }
}

/** `"0x` */
const OPENING = 0x22_3078
const QUOTE = 0x22
const COMMA = 0x2c
const BRACKET_END = 0x5d
const BRACE_END = 0x7d
const [NULL, TRUE, FALSE] = [0x6e75_6c6c, 0x7472_7565, 0x616c_7365]
/** With fifteen digits every integer is an exact number. */
const MAX_DIGITS = 15
const WORD_DIGITS = 64

/** Reads lists of logs. A method leaves `at` after what it read. */
class LogScanner {
  at = 0
  lists = 0
  readonly #bytes: Buffer
  readonly #view: DataView
  #layout: readonly Field[] | undefined
  #count = 0
  #isOrdered = true
  #block = -1
  #index = -1
  #blocks = new Float64Array(0)
  #positions = new Int32Array(0)

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  result(): ScannedLogs {
    return {
      count: this.#count,
      isOrdered: this.#isOrdered,
      bytes: this.#bytes,
      blocks: this.#blocks.subarray(0, this.#count),
      positions: this.#positions,
      step: POSITIONS,
    }
  }

  /** Reads the logs of the list that begins here, and ends before its bracket. False unless all have the same layout. */
  list(start: number): boolean {
    this.lists += 1
    this.at = start
    this.#skipSpace()
    if (this.#bytes[this.at] === BRACKET_END) return true
    for (;;) {
      this.#layout ??= this.#learn()
      if (this.#layout === undefined || !this.#log(this.#layout)) return false
      this.#skipSpace()
      if (this.#bytes[this.at] === BRACKET_END) return true
      if (!this.#takes(COMMA)) return false
      this.#skipSpace()
    }
  }

  #learn(): readonly Field[] | undefined {
    const text = this.#bytes.toString('latin1', this.at, this.#bytes.indexOf('}', this.at) + 1)
    const layout = layoutOf(text)
    // Room for all logs, if the others are not much shorter.
    if (layout !== undefined) this.#reserve(Math.ceil((1.1 * this.#bytes.length) / text.length))
    return layout
  }

  #log(layout: readonly Field[]): boolean {
    if (this.#count === this.#blocks.length) this.#reserve(2 * this.#count)
    const { length } = this.#bytes
    const [block, index] = [this.#block, this.#index]
    for (const field of layout) {
      // At least five bytes follow: `1}]}]` at the end of a page.
      if (this.at + field.length + 5 > length || !this.#matches(field) || !this.#value(field)) return false
    }
    this.#skipSpace()
    this.#isOrdered &&= this.#block > block || (this.#block === block && this.#index > index)
    this.#blocks[this.#count] = this.#block
    this.#count += 1
    return this.#takes(BRACE_END)
  }

  #matches({ length, starts, chunks }: Field): boolean {
    for (let four = 0; four < chunks.length; four += 1) {
      if (this.#view.getInt32(this.at + (starts[four] ?? 0)) !== chunks[four]) return false
    }
    this.at += length
    return true
  }

  #value({ kind, slot, width }: Field): boolean {
    switch (kind) {
      case 'block':
        this.#block = this.#number()
        return this.#block >= 0
      case 'index':
        this.#index = this.#number()
        return this.#index >= 0
      case 'hash':
        return this.#hash(slot, width)
      case 'data':
        return this.#data()
      case 'removed':
        if (this.#view.getInt32(this.at) === TRUE) this.#isOrdered = false
        return this.#literal()
      case 'other':
        return this.#takes(QUOTE) ? this.#skipString() : this.#literal() || this.#number() >= 0
    }
  }

  /** -1 unless there is a plain integer. */
  #number(): number {
    const bytes = this.#bytes
    const start = this.at
    let value = 0
    for (; ; this.at += 1) {
      const digit = (bytes[this.at] ?? 0) - 0x30
      if (digit < 0 || digit > 9) break
      value = 10 * value + digit
    }
    const count = this.at - start
    return count === 0 || count > MAX_DIGITS || (count > 1 && bytes[start] === 0x30) ? -1 : value
  }

  #hash(slot: number, width: number): boolean {
    const start = this.at + 3
    if (this.#view.getInt32(this.at) >>> 8 === OPENING && this.#bytes[start + width] === QUOTE) {
      this.#positions[this.#count * POSITIONS + slot] = start
      this.at = start + width + 1
      return true
    }
    this.#positions[this.#count * POSITIONS + slot] = 0
    return this.#view.getInt32(this.at) === NULL && this.#literal()
  }

  #data(): boolean {
    const start = this.at + 3
    // Most data is one word.
    if (!this.#isWord(start) || !this.#hash(DATA, WORD_DIGITS)) {
      if (this.#view.getInt32(this.at) === NULL) return this.#hash(DATA, WORD_DIGITS)
      if (this.#view.getInt32(this.at) >>> 8 !== OPENING) return false
      this.#positions[this.#count * POSITIONS + DATA] = start
      this.at = start
      if (!this.#skipString()) return false
    }
    this.#positions[this.#count * POSITIONS + DATA + 1] = this.at - 1
    return true
  }

  /** Whether none of the next characters is a quote: those of hex digits have bit 4 or 6. */
  #isWord(start: number): boolean {
    if (start + WORD_DIGITS > this.#bytes.length) return false
    let bits = -1
    for (let at = start; at < start + WORD_DIGITS; at += 4) {
      const four = this.#view.getInt32(at)
      bits &= four | (four >>> 2)
    }
    return (bits & 0x1010_1010) === 0x1010_1010
  }

  /** Skips the rest of a string of plain ASCII characters. */
  #skipString(): boolean {
    for (;;) {
      const character = this.#bytes[this.at] ?? 0
      this.at += 1
      if (character === QUOTE) return true
      if (character < 0x20 || character >= 0x7f || character === 0x5c) return false
    }
  }

  #literal(): boolean {
    const four = this.#view.getInt32(this.at)
    const isFalse = this.#bytes[this.at] === 0x66 && this.#view.getInt32(this.at + 1) === FALSE
    if (four !== NULL && four !== TRUE && !isFalse) return false
    this.at += isFalse ? 5 : 4
    return true
  }

  #takes(character: number): boolean {
    if (this.#bytes[this.at] !== character) return false
    this.at += 1
    return true
  }

  #skipSpace(): void {
    for (;;) {
      const character = this.#bytes[this.at]
      if (character !== 0x20 && character !== 0x0a && character !== 0x0d && character !== 0x09) return
      this.at += 1
    }
  }

  #reserve(count: number): void {
    const [blocks, positions] = [new Float64Array(count), new Int32Array(count * POSITIONS)]
    blocks.set(this.#blocks)
    positions.set(this.#positions)
    this.#blocks = blocks
    this.#positions = positions
  }
}
