import { HttpError } from '../http-error.ts'

/*
 * Reads packed messages of Cap'n Proto as clients send them: https://capnproto.org/encoding.html. Pointers of a hostile
 * message may share or contain their target, so what is read is counted, not what was sent.
 */

const WORD = 8
const MAX_SEGMENTS = 512
/** The tag of a word without zeros. */
const ALL = 0xff
/** Two bytes are at most 256 words of zeros. */
const MOST_PER_BYTE = 128 * WORD

const [STRUCT, LIST, FAR] = [0, 1, 2]
/** Sizes of the elements of a list. */
const [TWO_BYTES, POINTER, COMPOSITE] = [3, 6, 7]
const BYTE = 2
/** A struct of a list takes as long to read as about as many values, also one without a size. */
const VALUES_PER_STRUCT = 10

export interface Struct {
  uint16(index: number): number
  /** Throws an HttpError beyond 2^53 - 1. */
  uint64(index: number): number
  struct(pointer: number): Struct | null
  list(pointer: number): List | null
}

export interface List {
  readonly length: number
  /** Elements of two bytes. */
  uint16s(): readonly number[]
  /** Elements that are bytes, as hex with 0x. */
  texts(): readonly string[]
  /** An empty list may be null. */
  lists(): readonly (List | null)[]
  structs(): readonly Struct[]
}

const malformed = (why: string): HttpError =>
  new HttpError('bad_value', `expected a packed Cap'n Proto message: ${why}`)

const unpack = (packed: Buffer, maxBytes: number): Buffer => {
  const words = Buffer.alloc(Math.min(maxBytes, packed.length * MOST_PER_BYTE))
  let size = 0
  for (let at = 0; at < packed.length;) {
    const start = size
    const tag = packed[at] ?? 0
    at += 1
    for (let bit = 0; bit < WORD; bit += 1) {
      if ((tag & (1 << bit)) === 0) continue
      words[start + bit] = packed[at] ?? 0
      at += 1
    }
    const isRun = tag === 0 || tag === ALL
    const more = isRun ? (packed[at] ?? 0) * WORD : 0
    const from = isRun ? at + 1 : at
    at = tag === ALL ? from + more : from
    size += WORD + more
    if (size > maxBytes) throw new HttpError('too_large', `the message is larger than ${maxBytes} bytes`)
    // Zeros in place of the rest could be another query.
    if (at > packed.length) throw malformed('it is cut off')
    packed.copy(words, size - more, from, at)
  }
  return words.subarray(0, size)
}

const segmentsOf = (words: Buffer): readonly Buffer[] => {
  const count = words.length < WORD ? 0 : words.readUInt32LE(0) + 1
  const tableBytes = Math.ceil((4 + 4 * count) / WORD) * WORD
  if (count === 0 || count > MAX_SEGMENTS || tableBytes > words.length)
    throw malformed('its table of segments is invalid')
  const segments: Buffer[] = []
  let at = tableBytes
  for (let index = 0; index < count; index += 1) {
    const end = at + words.readUInt32LE(4 + 4 * index) * WORD
    if (end > words.length) throw malformed('it is cut off')
    segments.push(words.subarray(at, end))
    at = end
  }
  return segments
}

/** Where a pointer points to, and its word that describes the target. */
interface Target {
  readonly segment: Buffer
  /** In bytes. */
  readonly at: number
  readonly kind: number
  readonly low: number
  readonly high: number
}

class Message {
  readonly #segments: readonly Buffer[]
  #left: number

  constructor(segments: readonly Buffer[], values: number) {
    this.#segments = segments
    this.#left = values
  }

  /** Null if the message has none. Throws an HttpError, as all that is read from it. */
  root(): Struct | null {
    return this.#structAt(this.#segmentAt(0), 0)
  }

  #structAt(segment: Buffer, pointer: number | null): Struct | null {
    const target = this.#follow(segment, pointer)
    if (target === null) return null
    if (target.kind !== STRUCT) throw malformed('a list is in place of a struct')
    return this.#struct(target)
  }

  #listAt(segment: Buffer, pointer: number | null): List | null {
    const target = this.#follow(segment, pointer)
    if (target === null) return null
    if (target.kind !== LIST) throw malformed('a struct is in place of a list')
    return this.#list(target)
  }

  #struct({ segment, at, high }: Pick<Target, 'segment' | 'at' | 'high'>): Struct {
    const [dataBytes, pointers] = [(high & 0xffff) * WORD, high >>> 16]
    within(segment, at, dataBytes + pointers * WORD)
    const pointerAt = (index: number): number | null => (index < pointers ? at + dataBytes + index * WORD : null)
    return {
      // A field beyond the struct has its default: the client is older.
      uint16: (index) => (2 * index < dataBytes ? segment.readUInt16LE(at + 2 * index) : 0),
      uint64: (index) => {
        const value = WORD * index < dataBytes ? segment.readBigUInt64LE(at + WORD * index) : 0n
        if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed('a number is larger than 2^53-1')
        return Number(value)
      },
      struct: (index) => this.#structAt(segment, pointerAt(index)),
      list: (index) => this.#listAt(segment, pointerAt(index)),
    }
  }

  #list({ segment, at, high }: Target): List {
    const [size, count] = [high & 7, high >>> 3]
    const each = <T>(expected: number, width: number, read: (at: number) => T): readonly T[] => {
      if (size !== expected) throw malformed('a list has other elements')
      within(segment, at, count * width)
      this.#count(count)
      return Array.from({ length: count }, (_, index) => read(at + index * width))
    }
    return {
      length: count,
      uint16s: () => each(TWO_BYTES, 2, (position) => segment.readUInt16LE(position)),
      lists: () => each(POINTER, WORD, (pointer) => this.#listAt(segment, pointer)),
      texts: () => each(POINTER, WORD, (pointer) => this.#bytesAt(segment, pointer)),
      structs: () => {
        if (size !== COMPOSITE) throw malformed('a list has other elements')
        // The count is that of words, and a word before the elements has theirs.
        within(segment, at, WORD)
        const [elements, shape] = [segment.readUInt32LE(at) >>> 2, segment.readUInt32LE(at + 4)]
        const width = ((shape & 0xffff) + (shape >>> 16)) * WORD
        if (elements * width > count * WORD) throw malformed('a list is longer than it says')
        this.#count(elements * VALUES_PER_STRUCT)
        return Array.from({ length: elements }, (_, index) =>
          this.#struct({ segment, at: at + WORD + index * width, high: shape }),
        )
      },
    }
  }

  #bytesAt(segment: Buffer, pointer: number): string {
    const target = this.#follow(segment, pointer)
    if (target === null) return '0x'
    const length = target.high >>> 3
    if (target.kind !== LIST || (target.high & 7) !== BYTE) throw malformed('a list has other elements')
    within(target.segment, target.at, length)
    if (length > MAX_VALUE_BYTES) throw malformed('a value is longer than 32 bytes')
    return `0x${target.segment.toString('hex', target.at, target.at + length)}`
  }

  /** Null for a null pointer, and for one beyond its struct. A far pointer leads to another segment. */
  #follow(segment: Buffer, pointer: number | null): Target | null {
    if (pointer === null) return null
    this.#count(1)
    within(segment, pointer, WORD)
    const [low, high] = [segment.readUInt32LE(pointer), segment.readUInt32LE(pointer + 4)]
    if (low === 0 && high === 0) return null
    if ((low & 3) !== FAR) return direct(segment, pointer + WORD, { low, high })
    const other = this.#segmentAt(high)
    const pad = (low >>> 3) * WORD
    if ((low & 4) === 0) {
      within(other, pad, WORD)
      return direct(other, pad + WORD, { low: other.readUInt32LE(pad), high: other.readUInt32LE(pad + 4) })
    }
    // Two words: where the target begins, and what it is.
    within(other, pad, 2 * WORD)
    const place = other.readUInt32LE(pad)
    if ((place & 7) !== FAR) throw malformed('a pointer is invalid')
    const start = (place >>> 3) * WORD
    const described = { low: other.readUInt32LE(pad + WORD), high: other.readUInt32LE(pad + WORD + 4) }
    return {
      ...direct(this.#segmentAt(other.readUInt32LE(pad + 4)), 0, described),
      at: start,
    }
  }

  #segmentAt(index: number): Buffer {
    const segment = this.#segments[index]
    if (segment === undefined) throw malformed('a pointer leaves the message')
    return segment
  }

  #count(values: number): void {
    this.#left -= values
    if (this.#left < 0) throw new HttpError('too_many', 'more values than one request may have')
  }
}

/** Of an address, a hash or a topic. */
const MAX_VALUE_BYTES = 32

/** The target of a pointer that is not far: its offset counts words from the one after it. */
const direct = (
  segment: Buffer,
  after: number,
  { low, high }: { readonly low: number; readonly high: number },
): Target => {
  const kind = low & 3
  if (kind !== STRUCT && kind !== LIST) throw malformed('a pointer is invalid')
  return { segment, at: after + ((low | 0) >> 2) * WORD, kind, low, high }
}

const within = (segment: Buffer, at: number, length: number): void => {
  if (at < 0 || at + length > segment.length) throw malformed('a pointer leaves its segment')
}

/** What a client asks for: a query as in JSON, or the answer to one that it sent before. */
type BinaryRequest = Readonly<Record<string, unknown>> | 'by id'

/**
 * Reads `Request { union { query :QueryBody; queryId :Data }; blockRange }`, of at most these bytes after unpacking, and
 * of these elements of all lists that are read. Throws an HttpError.
 */
export const readBinaryRequest = (
  body: Buffer,
  { bytes, values }: Readonly<Record<'bytes' | 'values', number>>,
): BinaryRequest => {
  const request = new Message(segmentsOf(unpack(body, bytes)), values).root()
  if (request === null) throw new HttpError('bad_value', 'expected a request, got nothing')
  const member = request.uint16(0)
  if (member === BY_ID) return 'by id'
  if (member !== 0) throw new HttpError('bad_value', 'expected a query or its id')
  const range = request.struct(0)
  const query = request.struct(1)
  if (range === null || query === null) throw new HttpError('bad_value', 'expected a range of blocks and a query')
  const selected = query.struct(4)
  const names = (kind: Kind, pointer: number) => namesOf(kind, selected?.list(pointer) ?? null)
  return {
    from_block: range.uint64(0),
    to_block: range.struct(0)?.uint64(0) ?? null,
    logs: structsOf(query.list(0)).map(selectionOf),
    transactions: structsOf(query.list(1)).map(() => ({})),
    traces: structsOf(query.list(2)).map(() => ({})),
    blocks: structsOf(query.list(3)).map(() => ({})),
    field_selection: {
      block: names('block', 0),
      transaction: names('transaction', 1),
      log: names('log', 2),
      trace: names('trace', 3),
    },
    join_mode: JOIN_MODES[query.uint16(0)] ?? 'unknown',
    include_all_blocks: (query.uint16(1) & 1) === 1,
    ...Object.fromEntries(MAXIMA.map((name, index) => [name, query.struct(5 + index)?.uint64(0) ?? null])),
  }
}

const BY_ID = 1

const JOIN_MODES = ['Default', 'JoinAll', 'JoinNothing']
const MAXIMA = ['max_num_blocks', 'max_num_transactions', 'max_num_logs', 'max_num_traces']

/** The fields by their number: all of a log, and of blocks and transactions those that this service has. */
const FIELDS: Readonly<Record<Kind, Readonly<Record<number, string>>>> = {
  log: Object.fromEntries(
    [
      'transaction_hash',
      'block_hash',
      'block_number',
      'transaction_index',
      'log_index',
      'address',
      'data',
      'removed',
      'topic0',
      'topic1',
      'topic2',
      'topic3',
    ].entries(),
  ),
  block: { 0: 'number', 1: 'hash', 2: 'parent_hash', 13: 'timestamp' },
  transaction: { 0: 'block_hash', 1: 'block_number', 3: 'hash', 6: 'transaction_index' },
  trace: {},
}

type Kind = 'block' | 'transaction' | 'log' | 'trace'

const namesOf = (kind: Kind, list: List | null): readonly string[] =>
  (list?.uint16s() ?? []).map((number) => FIELDS[kind][number] ?? `${kind} field ${number}`)

const structsOf = (list: List | null): readonly Struct[] => list?.structs() ?? []

/** `Selection { include, exclude :LogFilter }` */
const selectionOf = (selection: Struct) => ({
  include: filterOf(selection.struct(0)),
  exclude: selection.struct(1) === null ? null : {},
})

/** `LogFilter { address :List(Data); addressFilter :Data; topics :List(List(Data)) }` */
const filterOf = (filter: Struct | null) => ({
  address: filter?.list(0)?.texts() ?? [],
  address_filter: (filter?.list(1)?.length ?? 0) === 0 ? null : true,
  topics: (filter?.list(2)?.lists() ?? []).map((topic) => topic?.texts() ?? []),
})
