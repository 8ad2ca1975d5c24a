import { type Page } from '../../client/types.ts'
import { PlainJson } from './plain-json.ts'

/**
 * The fast path from the bytes of a page to balances or owners: a scanner that reads hex digits into words, and tables of
 * words in typed arrays, instead of JSON.parse, BigInt and Map. It takes the pages that services write, in plain JSON, and
 * leaves any other to the generic path, which has the same result; test/query/tokens/agreement.test.ts compares both.
 */
export interface FastPath<Applied> {
  /** Reads a page and applies nothing. False if the page is not plain: then it must be parsed. */
  scan(page: Page): boolean
  /** The number of logs of the scanned page. */
  readonly logs: number
  /** Applies the scanned page. */
  apply(): Applied
}

/** Receives the logs of a page one by one. Must not apply any of them before the end of the page. */
export interface LogConsumer {
  begin(view: DataView): void
  /** False if the log is not in the plain form of the standard: then the page must be parsed. */
  take(log: LogReader): boolean
}

/**
 * Reads the logs of a page from its bytes without parsing the JSON, if the page is plain: all logs have one layout of
 * fields, numbers are JSON numbers, and each log is of the contract and the events, in range, in order and once.
 * Returns false for any other page, which must then be parsed.
 */
export class PageScanner {
  readonly #json = new PlainJson()
  readonly #log: LogReader
  readonly #logs: LogConsumer
  #layout: readonly LayoutField[] | undefined
  #next = 0

  constructor(contract: string, topics: readonly string[], logs: LogConsumer) {
    const events = topics.map((topic) => packDigits(topic.slice(2)))
    this.#log = new LogReader(this.#json, { contract: packDigits(contract.slice(2)), events })
    this.#logs = logs
  }

  scan({ body, from, next }: Page): boolean {
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
    this.#json.bytes = body
    this.#json.position = 0
    this.#log.view = view
    this.#log.block = from
    this.#log.index = -1
    this.#layout = undefined
    this.#next = next
    this.#logs.begin(view)
    return this.#pages() && this.#json.isAtEnd()
  }

  #pages(): boolean {
    let lists = 0
    const isPlain = this.#json.members((name) => {
      if (name !== 'data') return this.#json.skip()
      lists += 1
      return lists === 1 && this.#json.elements(() => this.#batch())
    })
    return isPlain && lists === 1
  }

  #batch(): boolean {
    let lists = 0
    return this.#json.members((name) => {
      if (name !== 'logs') return this.#json.skip()
      lists += 1
      return lists === 1 && this.#json.elements(() => this.#take())
    })
  }

  #take(): boolean {
    const log = this.#log
    const { block, index } = log
    if (this.#layout === undefined) {
      const start = this.#json.position
      this.#layout = learnLayout(this.#json)
      if (this.#layout === undefined) return false
      this.#json.position = start
    }
    if (!log.read(this.#layout)) return false
    const follows = log.block > block || (log.block === block && log.index > index)
    return follows && log.block < this.#next && this.#logs.take(log)
  }
}

/** How a field is read. */
type FieldKind =
  | 'block'
  | 'index'
  | 'address'
  | 'topic0'
  | 'topic1'
  | 'topic2'
  | 'topic3'
  | 'data'
  | 'removed'
  | 'other'

const KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['block_number', 'block'],
  ['log_index', 'index'],
  ['address', 'address'],
  ['topic0', 'topic0'],
  ['topic1', 'topic1'],
  ['topic2', 'topic2'],
  ['topic3', 'topic3'],
  ['data', 'data'],
  ['removed', 'removed'],
])

const NEEDED: readonly FieldKind[] = ['block', 'index', 'topic0']

/** A field of a log and the bytes before its value, for example `,"topic1":`. */
interface LayoutField {
  readonly kind: FieldKind
  readonly length: number
  /** The bytes in chunks of four, with the start of each chunk. The last chunk may overlap the one before. */
  readonly chunks: Int32Array
  readonly starts: Int32Array
}

/** The layout of the first log of a page: its fields in order. Undefined if the scanner cannot read them. */
const learnLayout = (json: PlainJson): readonly LayoutField[] | undefined => {
  const fields: LayoutField[] = []
  const names = new Set<string>()
  const isPlain = json.members((name) => {
    if (names.has(name)) return false
    const text = `${names.size === 0 ? '{' : ','}"${name}":`
    names.add(name)
    fields.push({ kind: KINDS.get(name) ?? 'other', ...chunksOf(text) })
    return json.skip()
  })
  const kinds = new Set(fields.map(({ kind }) => kind))
  return isPlain && NEEDED.every((kind) => kinds.has(kind)) ? fields : undefined
}

const chunksOf = (text: string): Omit<LayoutField, 'kind'> => {
  const bytes = new DataView(Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer)
  const length = bytes.byteLength
  const starts = Int32Array.from({ length: Math.ceil(length / 4) }, (_, four) => Math.min(4 * four, length - 4))
  return { length, starts, chunks: starts.map((start) => bytes.getInt32(start)) }
}

const ADDRESS_DIGITS = 40
const TOPIC_DIGITS = 64

/** `"0x` */
const OPENING = 0x2230_78
const QUOTE = 0x22

/** The contract and the events to read, as packed hex digits. */
interface LogFilter {
  readonly contract: Int32Array
  readonly events: readonly Int32Array[]
}

/** The ASCII bytes of hex digits without 0x, four to a word. */
const packDigits = (digits: string): Int32Array => {
  const bytes = Buffer.from(digits, 'latin1')
  return Int32Array.from({ length: digits.length / 4 }, (_, four) => bytes.readInt32BE(4 * four))
}

/** Reads one log of a known layout. A position is that of the first digit; 0 if the field is absent. */
export class LogReader {
  block = 0
  index = 0
  /** The index of the event in the filter. */
  event = 0
  topic1 = 0
  topic2 = 0
  topic3 = 0
  data = 0
  /** The number of digits of data, which may be odd. */
  digits = 0
  view: DataView = new DataView(new ArrayBuffer(0))
  readonly #json: PlainJson
  readonly #filter: LogFilter

  constructor(json: PlainJson, filter: LogFilter) {
    this.#json = json
    this.#filter = filter
  }

  /** False if the log does not match the layout. Does not check that hex digits are valid. */
  read(layout: readonly LayoutField[]): boolean {
    this.topic1 = 0
    this.topic2 = 0
    this.topic3 = 0
    this.data = 0
    this.digits = 0
    for (const field of layout) {
      if (!this.#takes(field) || !this.#value(field)) return false
    }
    return this.#json.takes(0x7d)
  }

  #value({ kind }: LayoutField): boolean {
    switch (kind) {
      case 'block':
        this.block = this.#number()
        return this.block >= 0
      case 'index':
        this.index = this.#number()
        return this.index >= 0
      case 'address':
        return this.#matches(this.#hex(ADDRESS_DIGITS), this.#filter.contract)
      case 'topic0':
        this.event = this.#event(this.#hex(TOPIC_DIGITS))
        return this.event >= 0
      case 'topic1':
        this.topic1 = this.#topic()
        return this.topic1 >= 0
      case 'topic2':
        this.topic2 = this.#topic()
        return this.topic2 >= 0
      case 'topic3':
        this.topic3 = this.#topic()
        return this.topic3 >= 0
      case 'data':
        return this.#data()
      case 'removed':
        return this.#isNotRemoved()
      case 'other':
        return this.#json.skip()
    }
  }

  /** `false` or null. */
  #isNotRemoved(): boolean {
    const first = this.#json.at(this.#json.position)
    return (first === 0x66 || first === 0x6e) && this.#json.skip()
  }

  #takes({ length, starts, chunks }: LayoutField): boolean {
    const { view } = this
    const { position } = this.#json
    if (position + length > view.byteLength) return false
    for (let four = 0; four < chunks.length; four += 1) {
      if (view.getInt32(position + (starts[four] ?? 0)) !== chunks[four]) return false
    }
    this.#json.position = position + length
    return true
  }

  /** -1 unless there is a plain integer of at most 15 digits. */
  #number(): number {
    const json = this.#json
    const start = json.position
    let value = 0
    let { position } = json
    for (; ; position += 1) {
      const digit = json.at(position) - 0x30
      if (digit < 0 || digit > 9) break
      value = 10 * value + digit
    }
    const count = position - start
    json.position = position
    return count === 0 || count > 15 || (count > 1 && json.at(start) === 0x30) ? -1 : value
  }

  /** Skips a string of 0x and `count` characters and returns the position of the first; -1 if the form is different. */
  #hex(count: number): number {
    const json = this.#json
    const start = json.position + 3
    if (start + count >= this.view.byteLength) return -1
    if (this.view.getInt32(start - 3) >>> 8 !== OPENING) return -1
    if (json.at(start + count) !== QUOTE) return -1
    json.position = start + count + 1
    return start
  }

  /** The position of the digits, 0 for null, -1 for anything else. */
  #topic(): number {
    const json = this.#json
    if (json.at(json.position) !== 0x6e) return this.#hex(TOPIC_DIGITS)
    return json.skip() ? 0 : -1
  }

  #data(): boolean {
    const json = this.#json
    const start = json.position + 3
    // Most data is one word.
    if (this.#hex(TOPIC_DIGITS) === start) {
      this.digits = TOPIC_DIGITS
    } else {
      if (start >= this.view.byteLength) return false
      if (this.view.getInt32(start - 3) >>> 8 !== OPENING || !json.skipString()) return false
      this.digits = json.position - 1 - start
    }
    this.data = start
    return true
  }

  #event(start: number): number {
    const { events } = this.#filter
    for (let event = 0; event < events.length; event += 1) {
      const digits = events[event]
      if (digits !== undefined && this.#matches(start, digits)) return event
    }
    return -1
  }

  #matches(start: number, digits: Int32Array): boolean {
    if (start < 0) return false
    for (let four = 0; four < digits.length; four += 1) {
      if (this.view.getInt32(start + 4 * four) !== digits[four]) return false
    }
    return true
  }
}
