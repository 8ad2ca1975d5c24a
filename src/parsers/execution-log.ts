import { ParseError } from '../core/errors.ts'
import { withinBounds } from '../core/bounds.ts'
import { parseU64 } from '../core/units.ts'

/** One execution of a block. */
export type ExecutedBlock = ReturnType<typeof readExecutedBlock>

const BLOCK_ID = /^0x[0-9a-fA-F]{64}$/
/** The unit µs (U+00B5, two bytes), and what a terminal, an editor or a wrong decoder turns it into. */
const MICROSECONDS = /^(\d{1,15}) ?(?:\u00B5|\u03BC|\u00C2\u00B5|\uFFFD{1,2}|u)s$/

/**
 * Reads `__exec_block,bl=…,id=…`. Fields were added and removed over the versions: ac and sc followed gps until
 * v0.14.4, and builds with statistics append more. The rates are of this block only.
 */
const readExecutedBlock = (message: string, fail: Fail) => {
  const fields = fieldsOf(message)
  const wrong = (name: string, expected: string): never =>
    fail(fields[name] === undefined ? `the field ${name}` : `a good ${name}: ${expected}`)
  const u64 = (name: string): bigint => parseU64(fields[name] ?? '') ?? wrong(name, 'an unsigned 64-bit integer')
  const microseconds = (name: string): number =>
    Number(MICROSECONDS.exec(fields[name] ?? '')?.[1] ?? wrong(name, 'microseconds'))
  const { id } = fields
  const block = {
    event: 'executed',
    number: u64('bl'),
    /** 0x and 64 hex digits, lower case; null if the node runs without consensus. */
    id: id === undefined ? null : BLOCK_ID.test(id) ? id.toLowerCase() : wrong('id', '64 hex digits'),
    /**
     * The host's clock when execution of the block started, in milliseconds since the epoch. It is not the block's own
     * time: of an old block that a node executes while it catches up, it is the present.
     */
    startedAt: withinBounds('unixMilliseconds', Number(u64('ts'))) ?? wrong('ts', 'milliseconds since 1970'),
    transactions: u64('tx'),
    /** Transactions that were executed again because they conflicted with others in the block. */
    retried: u64('rt'),
    microseconds: {
      senderRecovery: microseconds('sr'),
      execution: microseconds('txe'),
      commit: microseconds('cmt'),
      total: microseconds('tot'),
    },
    gas: u64('gas'),
  } as const
  // gps is the last field in every version. A line without it is truncated, perhaps within the number before it.
  return fields['gps'] === undefined ? wrong('gps', '') : block
}

/** Throws a ParseError with what was expected. */
type Fail = (expected: string) => never

/** Numbers are padded with spaces. */
const fieldsOf = (message: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    message.split(',').flatMap((part) => {
      const at = part.indexOf('=')
      return at === -1 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]]
    }),
  )

/** A parsed line of the execution log, for all known versions. */
export type ExecutionEvent =
  | ExecutedBlock
  | Upsert
  /** The summary after each block, or, without consensus, after a number of blocks. */
  | { readonly event: 'run'; readonly number: bigint; readonly residentBytes: number }
  | { readonly event: 'finalized'; readonly number: bigint; readonly id: string }

/** The node wrote the state of a block to a timeline of the database. */
export interface Upsert {
  readonly event: 'upserted'
  /** Used share of the database, from 0 to 1. */
  readonly usedRatio: number
  readonly chunks: { readonly fast: bigint; readonly slow: bigint; readonly free: bigint }
  /** Null if the node has never written one. */
  readonly version: bigint | null
  /** The timeline slot. Before v0.15 there was only the primary. */
  readonly timeline: 'primary' | 'secondary'
  readonly earliest: bigint | null
  readonly microseconds: number
}

type Reader = (message: string, fail: Fail) => ExecutionEvent

/**
 * Parses one line. The prefix of the message is ignored: time, thread, file and line number (which changes with each
 * release), and time, host and program if the line was copied from a terminal. Returns null if the line is not one of
 * known ones. Throws a ParseError if it is one of them and cannot be parsed.
 */
export const parseExecutionLine = (text: string): ExecutionEvent | null => {
  const [head, ...beginnings] = LINE_START.exec(text) ?? []
  const at = beginnings.findIndex((beginning) => beginning !== undefined)
  const [, read] = READERS[at] ?? []
  if (head === undefined || !read) return null
  return read(text.slice(head.length - (beginnings[at]?.length ?? 0)), (expected) => {
    throw new ParseError('a line of the execution log', expected, text)
  })
}

const UPSERT =
  /^Finish upserting version +(\d{1,20})(?: \(timeline ([01])\))?\. Min valid version +(\d{1,20})\. Time elapsed: +(\d{1,15}) us\. (.*)/

const USAGE = /^Disk usage: +([01](?:\.\d+)?)\. Chunks: +(\d+) fast, +(\d+) slow, +(\d+) free/

const readUpsert: Reader = (message, fail) => {
  const [, version = '', timeline, earliest = '', took, rest = ''] = UPSERT.exec(message) ?? []
  if (took === undefined) return fail('version, timeline 0 or 1, smallest version, time in us, use and chunks')
  const [, used, ...lists] = USAGE.exec(rest) ?? []
  const usedRatio = withinBounds('ratio', Number(used)) ?? fail('use and chunks')
  const [fast, slow, free] = lists.map((count) => parseU64(count) ?? fail('numbers of chunks'))
  if (fast === undefined || slow === undefined || free === undefined) return fail('numbers of chunks')
  return {
    event: 'upserted',
    // Undefined for a sentinel.
    version: parseU64(version) ?? null,
    timeline: timeline === '1' ? 'secondary' : 'primary',
    earliest: parseU64(earliest) ?? null,
    microseconds: Number(took),
    usedRatio,
    chunks: { fast, slow, free },
  }
}

/** The program divides by 2^20 and prints MB. */
const MIB = 2 ** 20

const readRun: Reader = (message, fail) => {
  const [, block = '', megabytes] =
    /^Run (?:to block=| *\d+ blocks to) *(\d+),(?:.*,)? rss = *(\d{1,9}) MB/.exec(message) ?? []
  return {
    event: 'run',
    number: parseU64(block) ?? fail('a block and "rss = … MB"'),
    residentBytes: Number(megabytes) * MIB,
  }
}

const readFinalization: Reader = (message, fail) => {
  const [, block = '', id = ''] =
    /^Processing finalization for block +(\d+) with block_id (\S+)\s*$/.exec(message) ?? []
  const expected = 'a block and a block_id of 64 hex digits'
  const number = parseU64(block) ?? fail(expected)
  return BLOCK_ID.test(id) ? { event: 'finalized', number, id: id.toLowerCase() } : fail(expected)
}

/** By the pattern of the text that the line begins with. */
const READERS: readonly (readonly [beginning: string, Reader])[] = [
  ['__exec_block,', readExecutedBlock],
  ['Finish upserting version', readUpsert],
  [String.raw`Run (?:to block=| *\d+ blocks to)`, readRun],
  ['Processing finalization for block', readFinalization],
]

/**
 * The pattern for `journalctl --grep`: lines that do not match are not read. It contains a capital letter, so matching
 * is case-sensitive.
 */
export const EXECUTION_LOG_PATTERN = `^(?:.{0,300}?\\s)?(?:${READERS.map(([beginning]) => `(${beginning})`).join('|')})`

const LINE_START = new RegExp(EXECUTION_LOG_PATTERN)
