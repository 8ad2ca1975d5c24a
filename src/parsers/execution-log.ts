import { ParseError } from '../core/errors.ts'
import { type NodeSource, own } from '../domain/node-source.ts'
import { withinBounds } from '../core/bounds.ts'
import { parseU64 } from '../core/units.ts'

/** One execution of a block. */
export type ExecutedBlock = Exclude<ReturnType<typeof readExecutedBlock>, string>

const BLOCK_ID = /^0x[0-9a-fA-F]{64}$/
/** The unit µs (U+00B5, two bytes), and what a terminal, an editor or a wrong decoder turns it into. */
const MICROSECONDS = /^(\d{1,15}) ?(?:\u00B5|\u03BC|\u00C2\u00B5|\uFFFD{1,2}|u)s$/

/**
 * Reads `__exec_block,bl=…,id=…`. Fields were added and removed over the versions: ac and sc followed gps until
 * v0.14.4, and builds with statistics append more. The rates are of this block only. Returns a text with what was
 * expected if the line cannot be parsed.
 */
const readExecutedBlock = (message: string) => {
  const fields = fieldsOf(message)
  const u64 = (name: string): bigint | undefined => parseU64(fields[name] ?? '')
  const microseconds = (name: string): number | undefined => {
    const [, digits] = MICROSECONDS.exec(fields[name] ?? '') ?? []
    return digits === undefined ? undefined : Number(digits)
  }
  const [bl, id, ts, tx, rt] = [u64('bl'), idOf(fields['id']), startOf(u64('ts')), u64('tx'), u64('rt')]
  const [sr, txe, cmt, tot] = [microseconds('sr'), microseconds('txe'), microseconds('cmt'), microseconds('tot')]
  const [gas, gps] = [u64('gas'), fields['gps']]
  if (bl === undefined || id === undefined || ts === undefined || tx === undefined || rt === undefined)
    return firstWrong(fields, { bl, id, ts, tx, rt })
  if (sr === undefined || txe === undefined || cmt === undefined || tot === undefined)
    return firstWrong(fields, { sr, txe, cmt, tot })
  // gps is the last field in every version. A line without it is truncated, perhaps within the number before it.
  if (gas === undefined || gps === undefined) return firstWrong(fields, { gas, gps })
  return {
    event: 'executed',
    number: bl,
    /** 0x and 64 hex digits, lower case; null if the node runs without consensus. */
    id,
    /**
     * The host's clock when execution of the block started, in milliseconds since the epoch. It is not the block's own
     * time: of an old block that a node executes while it catches up, it is the present.
     */
    startedAt: ts,
    transactions: tx,
    /** Transactions that were executed again because they conflicted with others in the block. */
    retried: rt,
    gas,
    microseconds: { senderRecovery: sr, execution: txe, commit: cmt, total: tot },
  } as const
}

const idOf = (text: string | undefined): string | null | undefined => {
  if (text === undefined) return null
  return BLOCK_ID.test(text) ? text.toLowerCase() : undefined
}

const startOf = (milliseconds: bigint | undefined): number | undefined =>
  withinBounds('unixMilliseconds', Number(milliseconds)) ?? undefined

/** What was expected in place of the first value that is undefined. */
const firstWrong = (fields: Readonly<Record<string, string>>, values: Readonly<Record<string, unknown>>): string => {
  const name = Object.keys(values).find((key) => values[key] === undefined) ?? ''
  return fields[name] === undefined
    ? `the field ${name}`
    : `a good ${name}: ${EXPECTED[name] ?? 'an unsigned 64-bit integer'}`
}

const EXPECTED: Readonly<Record<string, string>> = {
  id: '64 hex digits',
  ts: 'milliseconds since 1970',
  sr: 'microseconds',
  txe: 'microseconds',
  cmt: 'microseconds',
  tot: 'microseconds',
}

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
  /** The second half of the line of an upsert, which a line that was split begins with. */
  | (Usage & { readonly event: 'usage' })
  /** The summary after each block, or, without consensus, after a number of blocks. */
  | { readonly event: 'run'; readonly number: bigint; readonly residentBytes: number }
  /** The first line of a process. */
  | { readonly event: 'started'; readonly commit: string }
  | { readonly event: 'finalized'; readonly number: bigint; readonly id: string }
  | StateRoots

interface Usage {
  /** Used share of the database, from 0 to 1. */
  readonly usedRatio: number
  readonly chunks: { readonly fast: bigint; readonly slow: bigint; readonly free: bigint }
}

/** The node wrote the state of a block to a timeline of the database. */
export interface Upsert extends Usage {
  readonly event: 'upserted'
  /** Null if the node has never written one. */
  readonly version: bigint | null
  /** The timeline slot. Before v0.15 there was only the primary. */
  readonly timeline: 'primary' | 'secondary'
  readonly earliest: bigint | null
  readonly microseconds: number
}

type StateRoots = Exclude<ReturnType<typeof readStateRoots>, string>

type Reader = (message: string) => ExecutionEvent | string

/**
 * Parses one line. The prefix of the message is ignored: time, thread, file and line number (which changes with each
 * release), and time, host and program if the line was copied from a terminal. Returns null if the line is not one of
 * known ones. Throws a ParseError if it is one of them and cannot be parsed.
 */
export const parseExecutionLine = (text: string): ExecutionEvent | null => {
  const [head, ...beginnings] = LINE_START.exec(text) ?? []
  const at = beginnings.findIndex((beginning) => beginning !== undefined)
  const [, read] = READERS[at] ?? []
  if (head === undefined || !read) return readUnexported(text)
  return orThrow(read(text.slice(head.length - (beginnings[at]?.length ?? 0))), text)
}

const UPSERT =
  /^Finish upserting version +(\d+)(?: \(timeline ([01])\))?\. Min valid version +(\d+)\. Time elapsed: +(\d{1,15}) us\. (.*)/

const readUpsert: Reader = (message) => {
  const [, version = '', timeline, earliest = '', took, rest = ''] = UPSERT.exec(message) ?? []
  const versions = { version: nullIfSentinel(version), earliest: nullIfSentinel(earliest) }
  if (versions.version === undefined || versions.earliest === undefined) {
    return 'version, timeline 0 or 1, smallest version, time in us, use and chunks'
  }
  const usage = readUsage(rest)
  return typeof usage === 'string'
    ? usage
    : {
        ...usage,
        event: 'upserted',
        version: versions.version,
        timeline: timeline === '1' ? 'secondary' : 'primary',
        earliest: versions.earliest,
        microseconds: Number(took),
      }
}

const USAGE = /^Disk usage: +([01](?:\.\d+)?)\. Chunks: +(\d+) fast, +(\d+) slow, +(\d+) free/

const readUsage = (message: string): (Usage & { readonly event: 'usage' }) | string => {
  const [, used, ...lists] = USAGE.exec(message) ?? []
  if (used === undefined || withinBounds('ratio', Number(used)) === null) return 'use and chunks'
  const [fast, slow, free] = lists.map(parseU64)
  if (fast === undefined || slow === undefined || free === undefined) return 'numbers of chunks'
  return { event: 'usage', usedRatio: Number(used), chunks: { fast, slow, free } }
}

/** The program divides by 2^20 and prints MB. */
const MIB = 2 ** 20

const readRun: Reader = (message) => {
  const [, block = '', megabytes] =
    /^Run (?:to block=| *\d+ blocks to) *(\d+),(?:.*,)? rss = *(\d{1,9}) MB/.exec(message) ?? []
  const number = parseU64(block)
  if (number === undefined) return 'a block and "rss = … MB"'
  return { event: 'run', number, residentBytes: Number(megabytes) * MIB }
}

const readStart: Reader = (message) => {
  const [, commit] = /^running with commit '([^']{1,64})'/.exec(message) ?? []
  return commit === undefined ? 'a commit in quotation marks' : { event: 'started', commit }
}

const readFinalization: Reader = (message) => {
  const [, block = '', id = ''] =
    /^Processing finalization for block +(\d+) with block_id (\S+)\s*$/.exec(message) ?? []
  const number = parseU64(block)
  if (number === undefined || !BLOCK_ID.test(id)) return 'a block and a block_id of 64 hex digits'
  return { event: 'finalized', number, id: id.toLowerCase() }
}

/**
 * The state roots after a block, since v0.15.2: 0x and 64 hex digits; the secondary one is null if the database has one
 * timeline. Two nodes with other primary roots at one block have diverged.
 */
const readStateRoots = (message: string) => {
  const [, block = '', id = '', primary = '', secondary = null] =
    /^block=(\d+), block_id=(\S+) state_root primary=(\S+)(?: secondary=(\S+))?\s*$/.exec(message) ?? []
  const number = parseU64(block)
  const roots = [id, primary, ...(secondary === null ? [] : [secondary])]
  if (number === undefined || !roots.every((root) => BLOCK_ID.test(root))) {
    return 'a block, a block_id and roots of 64 hex digits'
  }
  return { event: 'state_root', number, id, primary, secondary } as const
}

/** Lines from which the agent exports nothing. */
const UNEXPORTED: readonly (readonly [RegExp, Reader])[] = [
  [/^(?:.{0,300}?\s)?(block=\d+, block_id=\S+ state_root .*)$/, readStateRoots],
  [/^(?:.{0,300}?\sLOG_\w+\s+)?(running with commit '.*)$/, readStart],
  [/^(?:.{0,300}?\sLOG_\w+\s+)?(Disk usage: \d.*\bChunks: .*)$/, readUsage],
]

const readUnexported = (text: string): ExecutionEvent | null => {
  for (const [pattern, read] of UNEXPORTED) {
    const [, message] = pattern.exec(text) ?? []
    if (message !== undefined) return orThrow(read(message), text)
  }
  return null
}

const orThrow = (result: ExecutionEvent | string, text: string): ExecutionEvent => {
  if (typeof result === 'string') throw new ParseError('a line of the execution log', result, text)
  return result
}

/** Null for a sentinel, "never set"; undefined if the text is not a number. */
const nullIfSentinel = (text: string): bigint | null | undefined =>
  /^\d{1,20}$/.test(text) ? (parseU64(text) ?? null) : undefined

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

const RUNLOOPS = 'monad/category/execution/runloop'
const RUNLOOP = `${RUNLOOPS}/runloop_monad.cpp`

/** The functions of the node that log each of the lines, by the text that the line begins with. */
export const EXECUTION_SOURCES: ReadonlyMap<string, readonly NodeSource[]> = new Map([
  ['__exec_block,', own(RUNLOOP, 'propose_block')],
  ['Finish upserting version', own('monad/category/mpt/update_aux.cpp', 'do_update')],
  ['Run to block=', own(RUNLOOP, 'log_tps')],
  [
    'Run {:4d} blocks to',
    [
      ...own(`${RUNLOOPS}/runloop_monad_ethblocks.cpp`, 'log_tps'),
      ...own(`${RUNLOOPS}/runloop_ethereum.cpp`, 'log_tps'),
    ],
  ],
  ["running with commit '", own('monad/cmd/monad/main.cpp', 'main')],
  ['Processing finalization for block', own(RUNLOOP, 'runloop_monad')],
  ['block={}, block_id={} state_root primary=', own(RUNLOOP, 'propose_block')],
])
