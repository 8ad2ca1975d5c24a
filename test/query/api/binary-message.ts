import { contract, word as topic } from '../../support/store-cases.ts'
import { askRaw } from './fixtures.ts'

/*
 * Writes packed messages of Cap'n Proto by its specification, without code of the service:
 * https://capnproto.org/encoding.html.
 */

export interface StructPart {
  readonly kind: 'struct'
  readonly data: readonly bigint[]
  readonly pointers: readonly Part[]
}

/** What a pointer points to; null is a null pointer. */
export type Part =
  | null
  | StructPart
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'uint16s'; readonly numbers: readonly number[] }
  | { readonly kind: 'list'; readonly parts: readonly Part[] }
  | { readonly kind: 'structs'; readonly parts: readonly StructPart[] }

export const struct = (data: readonly bigint[], pointers: readonly Part[] = []): StructPart => ({
  kind: 'struct',
  data,
  pointers,
})
export const bytes = (hex: string): Part => ({ kind: 'bytes', bytes: Buffer.from(hex.slice(2), 'hex') })
export const uint16s = (...numbers: readonly number[]): Part => ({ kind: 'uint16s', numbers })
export const list = (...parts: readonly Part[]): Part => ({ kind: 'list', parts })
export const structs = (...parts: readonly StructPart[]): Part => ({ kind: 'structs', parts })

/** A word of two halves. */
export const halves = (low: number, high: number): bigint =>
  (BigInt(high >>> 0) << 32n) | BigInt.asUintN(32, BigInt(low))

export const structPointer = (offset: number, data: number, pointers: number): bigint =>
  halves(offset << 2, data | (pointers << 16))

/** The size of elements: 2 for bytes, 3 for two bytes, 6 for pointers, 7 for structs. */
export const listPointer = (offset: number, size: number, count: number): bigint =>
  halves((offset << 2) | 1, size + count * 8)

export const farPointer = (pad: number, segment: number): bigint => halves((pad << 3) | 2, segment)
export const doubleFarPointer = (pad: number, segment: number): bigint => halves((pad << 3) | 6, segment)

interface Layout {
  /** Objects are put into segments in turn. */
  readonly segments: number
  /** How a pointer leads to another segment. */
  readonly far: 'single' | 'double'
}

/** The words of each segment of a message. */
export const layOut = (root: Part, { segments: count, far }: Layout = { segments: 1, far: 'single' }) => {
  const segments = Array.from({ length: count }, (): bigint[] => [])
  const allocate = (segment: number, words: number): number => {
    const at = segments[segment]?.length ?? 0
    segments[segment]?.push(...Array.from({ length: words }, () => 0n))
    return at
  }
  const set = (segment: number, at: number, word: bigint): void => {
    const words = segments[segment]
    if (words) words[at] = word
  }
  let turn = -1
  const write = (segment: number, pointer: number, part: Part): void => {
    if (part === null) return
    turn += 1
    const target = turn % count
    const point = (offset: number): bigint => pointerTo(part, offset)
    const pad = target === segment ? null : far
    // The landing pad of a single far pointer is in the segment of the object, that of a double one anywhere.
    const padSegment = pad === 'double' ? (target + 1) % count : target
    const padAt = pad === null ? 0 : allocate(padSegment, pad === 'double' ? 2 : 1)
    const at = allocate(target, wordsOf(part))
    if (pad === null) set(segment, pointer, point(at - pointer - 1))
    else if (pad === 'single') {
      set(segment, pointer, farPointer(padAt, target))
      set(target, padAt, point(at - padAt - 1))
    } else {
      set(segment, pointer, doubleFarPointer(padAt, padSegment))
      set(padSegment, padAt, farPointer(at, target))
      set(padSegment, padAt + 1, point(0))
    }
    fill(target, at, part)
  }
  const fillStruct = (segment: number, at: number, { data, pointers }: StructPart): void => {
    for (const [index, word] of data.entries()) set(segment, at + index, word)
    for (const [index, part] of pointers.entries()) write(segment, at + data.length + index, part)
  }
  const fill = (segment: number, at: number, part: NonNullable<Part>): void => {
    if (part.kind === 'struct') fillStruct(segment, at, part)
    else if (part.kind === 'list') for (const [index, one] of part.parts.entries()) write(segment, at + index, one)
    else if (part.kind === 'structs') {
      set(segment, at, structPointer(part.parts.length, ...shapeOf(part.parts)))
      const [data, pointers] = shapeOf(part.parts)
      for (const [index, one] of part.parts.entries()) fillStruct(segment, at + 1 + index * (data + pointers), one)
    } else for (const [index, word] of wordsIn(contentOf(part)).entries()) set(segment, at + index, word)
  }
  allocate(0, 1)
  write(0, 0, root)
  return segments
}

const shapeOf = ([first]: readonly StructPart[]): readonly [data: number, pointers: number] => [
  first?.data.length ?? 0,
  first?.pointers.length ?? 0,
]

const contentOf = (part: Extract<Part, { kind: 'bytes' | 'uint16s' }>): Uint8Array =>
  part.kind === 'bytes' ? part.bytes : Buffer.from(Uint16Array.from(part.numbers).buffer)

const wordsIn = (content: Uint8Array): readonly bigint[] => {
  const padded = Buffer.alloc(Math.ceil(content.length / 8) * 8)
  padded.set(content)
  return Array.from({ length: padded.length / 8 }, (_, index) => padded.readBigUInt64LE(index * 8))
}

const wordsOf = (part: NonNullable<Part>): number => {
  if (part.kind === 'struct') return part.data.length + part.pointers.length
  if (part.kind === 'list') return part.parts.length
  if (part.kind === 'structs') return 1 + part.parts.length * shapeOf(part.parts).reduce((sum, each) => sum + each, 0)
  return Math.ceil(contentOf(part).length / 8)
}

const pointerTo = (part: NonNullable<Part>, offset: number): bigint => {
  if (part.kind === 'struct') return structPointer(offset, part.data.length, part.pointers.length)
  if (part.kind === 'list') return listPointer(offset, 6, part.parts.length)
  if (part.kind === 'structs') return listPointer(offset, 7, wordsOf(part) - 1)
  return part.kind === 'bytes' ? listPointer(offset, 2, part.bytes.length) : listPointer(offset, 3, part.numbers.length)
}

/** A message of these segments, packed. */
export const messageOf = (segments: readonly (readonly bigint[])[]): Buffer => {
  const table = new Uint32Array(Math.ceil((segments.length + 1) / 2) * 2)
  table.set([segments.length - 1, ...segments.map(({ length }) => length)])
  return pack([...wordsIn(Buffer.from(table.buffer)), ...segments.flat()])
}

/** A tag for each word, one bit for each byte that is not zero; behind tags 0 and 255 the number of words alike. */
const pack = (words: readonly bigint[]): Buffer => {
  const packed: number[] = []
  const bytesOf = (word: bigint): readonly number[] =>
    Array.from({ length: 8 }, (_, at) => Number((word >> BigInt(8 * at)) & 255n))
  const tagOf = (word: bigint): number =>
    bytesOf(word).reduce((tag, byte, at) => (byte === 0 ? tag : tag | (1 << at)), 0)
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? 0n
    const tag = tagOf(word)
    packed.push(tag, ...bytesOf(word).filter((byte) => byte !== 0))
    if (tag !== 0 && tag !== 255) continue
    let run = 0
    while (run < 255 && at + 1 + run < words.length && tagOf(words[at + 1 + run] ?? 0n) === tag) run += 1
    const alike = words.slice(at + 1, at + 1 + run)
    packed.push(run, ...(tag === 0 ? [] : alike.flatMap(bytesOf)))
    at += run
  }
  return Buffer.from(packed)
}

export const NUMBER = (value: number | bigint): Part => struct([BigInt(value)])
/** Numbers of log fields: block_number and data. */
const SOME_FIELDS = struct([], [null, null, uint16s(2, 6), null])

export const filter = (addresses: Part, topics: Part = null, bloom: Part = null) =>
  struct([], [addresses, bloom, topics])
export const included = (one: Part, excluded: Part = null) => struct([], [one, excluded])

export interface Query {
  readonly range?: Part
  readonly flags?: bigint
  readonly logs?: Part
  readonly others?: readonly [transactions: Part, traces: Part, blocks: Part]
  readonly fields?: Part
  readonly maxima?: readonly [blocks: Part, transactions: Part, logs: Part, traces: Part]
}

export const request = ({
  range = struct([10n], [NUMBER(20)]),
  flags = 0n,
  logs = structs(included(filter(list(bytes(contract(1)))))),
  others = [null, null, null],
  fields = SOME_FIELDS,
  maxima = [null, null, null, null],
}: Query = {}): Part => struct([0n], [range, struct([flags], [logs, ...others, fields, ...maxima])])

/** A topic that is packed as a run of words. */
export const NO_ZEROS = `0x${'ab'.repeat(32)}`

/** With every field that is served. */
export const FULL: Query = {
  // JoinNothing, and every block.
  flags: 0x1_0002n,
  logs: structs(
    included(
      filter(
        list(bytes(contract(1)), bytes(contract(2))),
        list(list(bytes(topic(7)), bytes(topic(2 ** 40))), list(), null, list(bytes(NO_ZEROS))),
      ),
    ),
    included(filter(null, list(list(bytes(topic(8)))))),
  ),
  fields: struct([], [uint16s(0, 1, 2, 13), uint16s(0, 1, 3, 6), uint16s(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), null]),
  maxima: [NUMBER(4), NUMBER(300), NUMBER(50_000), NUMBER(0)],
}

export const askPacked = (api: { readonly port: number }, body: Buffer) =>
  askRaw(api, { path: '/query/arrow-ipc/capnp', headers: { 'content-type': 'application/x-capnp' }, body })
