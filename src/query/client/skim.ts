import { type Envelope, isObject, readEnvelope, type Refuse } from './envelope.ts'
import { Finder } from './finder.ts'
import { cutTail } from './trim.ts'

/** What must be known of a page before it is handed on. */
export interface Skimmed {
  readonly envelope: Envelope
  readonly logs: number
  /** The lowest and the highest block of a log; Infinity and -1 without any. */
  readonly lowest: number
  readonly highest: number
  /** Logs of the block after the end, which an inclusive service sends along. */
  readonly beyond: number
  /** The bytes without those, where there are any and they could be cut off. */
  readonly trimmed?: Buffer | undefined
}

const BACKSLASH = 0x5c
const QUOTED_LOGS = Buffer.from('"logs"')
const QUOTED_DATA = Buffer.from('"data"')
/** What each log has once, and after that what must not hide among the logs. */
const WORDS = [
  '"block_number"',
  '"log_index"',
  '"next_block"',
  '"archive_height"',
  '"rollback_guard"',
]

/**
 * The coverage of a page without parsing its logs, in a fraction of the time. Undefined where the page is
 * not written in the plain way (an escape, a number as text, a key where none is expected): then it is
 * parsed. Without a backslash no text hides a quote, so what looks like a key is one.
 */
export const skim = (body: Buffer, last: number, refuse: Refuse): Skimmed | undefined => {
  if (body.includes(BACKSLASH)) return undefined
  const list = afterColon(body, body.indexOf(QUOTED_DATA) + QUOTED_DATA.length)
  const end = body.lastIndexOf(']')
  if (list === undefined || body[list] !== 0x5b || end < list) return undefined
  const answer = parse(`${body.toString('utf8', 0, list)}[${body.toString('utf8', end)}`)
  if (!isObject(answer) || !isEmptyList(answer['data'])) return undefined
  const inside = body.subarray(list + 1, end)
  const blocks = blocksOf(inside, last)
  if (blocks === undefined) return undefined
  // Logs that are in no list of logs are for the parser to refuse.
  if (blocks.logs > 0 && !inside.includes(QUOTED_LOGS)) return undefined
  const { tailAt, ...counts } = blocks
  const skimmed = { envelope: readEnvelope(answer, refuse), ...counts }
  if (counts.beyond === 0) return skimmed
  const tail = { at: list + 1 + tailAt, count: counts.beyond, listEnd: end, end: last }
  const trimmed = cutTail(body, tail)
  return trimmed && { ...skimmed, trimmed }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const blocksOf = (inside: Buffer, last: number) => {
  const finder = new Finder(WORDS)
  let logs = 0
  let indexes = 0
  let lowest = Number.POSITIVE_INFINITY
  let highest = -1
  let beyond = 0
  let tailAt = 0
  for (let at = finder.find(inside, 0); at !== -1; at = finder.find(inside, at)) {
    if (finder.word === 1) {
      indexes += 1
      continue
    }
    if (finder.word > 1) return undefined
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
  // A block number that is not a log's would be counted as one.
  return logs === indexes ? { logs, lowest, highest, beyond, tailAt } : undefined
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const afterSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (isSpace(bytes[at])) at += 1
  return at
}

/** Where the value of a key begins, if it is a key. */
const afterColon = (bytes: Buffer, from: number): number | undefined => {
  const colon = afterSpace(bytes, from)
  return bytes[colon] === 0x3a ? afterSpace(bytes, colon + 1) : undefined
}

/** At most fifteen: those a number holds exactly. */
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
  const isWhole = at > from && at - from <= 15 && (stop === 0x2c || stop === 0x7d)
  return isWhole ? value : undefined
}
