import { isObject, tryJson } from '../../src/core/json.ts'
import { type Envelope, PAGE_JSON, parseInteger, readEnvelope, type ShapeError } from './wire-format.ts'

/** The coverage of a page: what the client checks before it delivers the page. */
export interface Coverage {
  readonly envelope: Envelope
  /** The number of logs. */
  readonly logs: number
  /** The lowest and the highest block of a log; Infinity and -1 without logs. */
  readonly lowest: number
  readonly highest: number
  /** The number of logs after the end of the range: a service with an inclusive to_block returns one more block. */
  readonly beyond: number
  /** The response without those logs, if there are any and they could be cut off. */
  readonly trimmed?: Buffer | undefined
}

const BACKSLASH = 0x5c
const QUOTED_LOGS = Buffer.from('"logs"')
const QUOTED_DATA = Buffer.from('"data"')
/** Two keys that each log has once, and the keys of the envelope, which must not be among the logs. */
const KEYS = ['"block_number"', '"log_index"', '"next_block"', '"archive_height"', '"rollback_guard"']

/**
 * Finds the coverage of a page without parsing its logs, which takes a fraction of the time. `last` is the last block
 * of the requested range. Returns undefined if the page is not plain (an escape, a number as a string, a key in an
 * unexpected place): then the page must be parsed. Without a backslash no string contains a quote, so every match of a
 * quoted key is a key.
 */
export const scanCoverage = (body: Buffer, last: number, shapeError: ShapeError): Coverage | undefined => {
  if (body.includes(BACKSLASH)) return undefined
  const list = afterColon(body, body.indexOf(QUOTED_DATA) + QUOTED_DATA.length)
  const end = body.lastIndexOf(']')
  if (list === undefined || body[list] !== 0x5b || end < list) return undefined
  const response = tryJson(`${body.toString('utf8', 0, list)}[${body.toString('utf8', end)}`)
  if (!isObject(response) || !isEmptyList(response['data'])) return undefined
  const inside = body.subarray(list + 1, end)
  const blocks = blocksOf(inside, last)
  if (blocks === undefined) return undefined
  // Logs outside a list of logs: the parser rejects them.
  if (blocks.logs > 0 && !inside.includes(QUOTED_LOGS)) return undefined
  const { tailAt, ...counts } = blocks
  const coverage = { envelope: readEnvelope(response, shapeError), ...counts }
  if (counts.beyond === 0) return coverage
  const tail = { at: list + 1 + tailAt, count: counts.beyond, listEnd: end, end: last }
  const trimmed = cutTail(body, tail)
  return trimmed && { ...coverage, trimmed }
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const blocksOf = (inside: Buffer, last: number) => {
  const finder = new KeyFinder(KEYS)
  let logs = 0
  let indexes = 0
  let lowest = Number.POSITIVE_INFINITY
  let highest = -1
  let beyond = 0
  let tailAt = 0
  for (let at = finder.find(inside, 0); at !== -1; at = finder.find(inside, at)) {
    if (finder.found === 1) {
      indexes += 1
      continue
    }
    if (finder.found > 1) return undefined
    const block = digits(inside, afterColon(inside, at))
    if (block === undefined) return undefined
    logs += 1
    if (block < lowest) lowest = block
    if (block > highest) highest = block
    if (block > last) {
      if (beyond === 0) tailAt = at
      beyond += 1
    }
  }
  // Different counts: one of the keys is not a key of a log.
  return logs === indexes ? { logs, lowest, highest, beyond, tailAt } : undefined
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const afterSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (isSpace(bytes[at])) at += 1
  return at
}

/** The position of a value after the key that ends at `from`; undefined if no colon follows. */
const afterColon = (bytes: Buffer, from: number): number | undefined => {
  const colon = afterSpace(bytes, from)
  return bytes[colon] === 0x3a ? afterSpace(bytes, colon + 1) : undefined
}

/** At most fifteen digits, which a number represents exactly. */
const digits = (bytes: Buffer, from: number | undefined): number | undefined => {
  if (from === undefined) return undefined
  let value = 0
  let at = from
  for (;;) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
    at += 1
  }
  const stop = bytes[afterSpace(bytes, at)]
  const isValid = at > from && at - from <= 15 && (stop === 0x2c || stop === 0x7d)
  return isValid ? value : undefined
}

/**
 * Finds the next of several keys in bytes with the Horspool algorithm, which skips most digits of a log.
 * `Buffer.indexOf` would read every byte, once for each key.
 */
class KeyFinder {
  /** The index of the key that was found. */
  found = 0
  readonly #words: readonly Buffer[]
  /** The length of the shortest key. Keys are matched at their end, which is a quote. */
  readonly #width: number
  /** By the byte at the end of the window: how far the window may move; 0 if a key may end there. */
  readonly #steps: Uint8Array
  /** 1 for each byte that is the last but one of a key: a quick test before the comparison. */
  readonly #before = new Uint8Array(256)

  constructor(words: readonly string[]) {
    this.#words = words.map((word) => Buffer.from(word, 'latin1'))
    this.#width = Math.min(...words.map((word) => word.length))
    this.#steps = new Uint8Array(256).fill(this.#width)
    for (const word of this.#words) {
      this.#before[word.at(-2) ?? 0] = 1
      word.subarray(-this.#width).forEach((byte, at) => {
        this.#steps[byte] = Math.min(this.#steps[byte] ?? 0, this.#width - 1 - at)
      })
    }
  }

  /** The end of the next key that begins at `from` or later; -1 if there is none. */
  find(bytes: Uint8Array, from: number): number {
    const steps = this.#steps
    const before = this.#before
    const end = bytes.length
    for (let at = from + this.#width - 1; at < end;) {
      const step = steps[bytes[at] ?? 0] ?? 1
      const isNear = step === 0 && before[bytes[at - 1] ?? 0] === 1
      if (isNear && this.#endsAt(bytes, { at, from })) return at + 1
      at += step === 0 ? 1 : step
    }
    return -1
  }

  #endsAt(bytes: Uint8Array, { at, from }: { readonly at: number; readonly from: number }): boolean {
    for (const [index, word] of this.#words.entries()) {
      const start = at + 1 - word.length
      if (start < from || !isAt(bytes, start, word)) continue
      this.found = index
      return true
    }
    return false
  }
}

const isAt = (bytes: Uint8Array, start: number, word: Buffer): boolean => {
  for (let at = word.length - 1; at >= 0; at -= 1) {
    if (bytes[start + at] !== word[at]) return false
  }
  return true
}

interface Tail {
  /** A position in the first log of the tail. */
  readonly at: number
  /** The number of logs in the tail. */
  readonly count: number
  /** The position of the bracket that ends the list `data`. */
  readonly listEnd: number
  /** The last block to keep. */
  readonly end: number
}

const BRACE = 0x7b
const COMMA = 0x2c
const OPEN = /,?\s*\{\s*"logs"\s*:\s*\[\s*$/
const OPEN_LENGTH = 64

/**
 * Removes the logs after the end from the bytes of a response, if they are the last ones; parses no other log.
 * Undefined if the bytes to cut off are not exactly those logs.
 */
const cutTail = (body: Buffer, { at, count, listEnd, end }: Tail): Buffer | undefined => {
  const cut = body.lastIndexOf(BRACE, at)
  const tail = tryJson(`[{"logs":[${body.toString('utf8', cut, listEnd)}]`, PAGE_JSON)
  const logs = Array.isArray(tail) ? tail.flatMap(logsOf) : []
  if (logs.length !== count || logs.some((log) => !(blockOf(log) > end))) return undefined
  const before = body.toString('latin1', Math.max(0, cut - OPEN_LENGTH), cut)
  const opening = OPEN.exec(before)?.[0]
  const rest = body.subarray(listEnd)
  // Cut off the complete entry if it contains nothing else.
  if (opening !== undefined) return Buffer.concat([body.subarray(0, cut - opening.length), rest])
  const trimmed = before.trimEnd()
  if (trimmed.charCodeAt(trimmed.length - 1) !== COMMA) return undefined
  const keep = cut - (before.length - trimmed.length) - 1
  return Buffer.concat([body.subarray(0, keep), Buffer.from(']}'), rest])
}

const logsOf = (entry: unknown): readonly unknown[] =>
  isObject(entry) && Array.isArray(entry['logs']) ? entry['logs'] : []

/** The block of a parsed log; Infinity if it has none. */
export const blockOf = (log: unknown): number =>
  isObject(log) ? (parseInteger(log['block_number']) ?? Infinity) : Infinity
