import { isObject } from './envelope.ts'
import { parseInteger } from './integers.ts'

/** The same answer with what was sent along taken out; whoever scans its bytes need not know of it. */
export const withoutBeyond = (answer: Readonly<Record<string, unknown>>, end: number): Buffer => {
  const entries: unknown[] = Array.isArray(answer['data']) ? answer['data'] : []
  const data = entries.map((entry) => {
    if (!isObject(entry) || !Array.isArray(entry['logs'])) return entry
    const logs: unknown[] = entry['logs']
    return { ...entry, logs: logs.filter((log) => blockOf(log) <= end) }
  })
  return Buffer.from(JSON.stringify({ ...answer, data }))
}

interface Tail {
  /** Somewhere in the first log of the tail. */
  readonly at: number
  /** How many logs are in it. */
  readonly count: number
  /** Where the list of the data ends: its bracket. */
  readonly listEnd: number
  /** Inclusive. */
  readonly end: number
}

const BRACE = 0x7b
const COMMA = 0x2c
const OPEN = /,?\s*\{\s*"logs"\s*:\s*\[\s*$/
const OPEN_LENGTH = 64

/**
 * The same by bytes, where the logs beyond the end are the last ones; the others are not looked at. Undefined
 * where what would be cut off is not exactly those logs.
 */
export const cutTail = (body: Buffer, { at, count, listEnd, end }: Tail): Buffer | undefined => {
  const cut = body.lastIndexOf(BRACE, at)
  const tail = parse(`[{"logs":[${body.toString('utf8', cut, listEnd)}]`)
  const logs = Array.isArray(tail) ? tail.flatMap(logsOf) : []
  if (logs.length !== count || logs.some((log) => !(blockOf(log) > end))) return undefined
  const before = body.toString('latin1', Math.max(0, cut - OPEN_LENGTH), cut)
  const opening = OPEN.exec(before)?.[0]
  const rest = body.subarray(listEnd)
  // The whole entry, where it holds nothing else.
  if (opening !== undefined) return Buffer.concat([body.subarray(0, cut - opening.length), rest])
  const trimmed = before.trimEnd()
  if (trimmed.charCodeAt(trimmed.length - 1) !== COMMA) return undefined
  const keep = cut - (before.length - trimmed.length) - 1
  return Buffer.concat([body.subarray(0, keep), Buffer.from(']}'), rest])
}

const logsOf = (entry: unknown): readonly unknown[] =>
  isObject(entry) && Array.isArray(entry['logs']) ? entry['logs'] : []

const blockOf = (log: unknown): number =>
  isObject(log) ? (parseInteger(log['block_number']) ?? Infinity) : Infinity

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
