import { ParseError } from '../core/errors.ts'
import { parseU64, SENTINEL } from '../core/units.ts'
import { BLOCK_ID, type ExecutedBlock, readExecutedBlock } from './execution-log-block.ts'

/** What one line of the execution log tells, in every version that we know. */
export type ExecutionEvent = ExecutedBlock | Upsert | BlockRun | Finalization

/** The state of a block was written into a timeline of the database. */
export interface Upsert {
  readonly event: 'upserted'
  /** Null while the node has never written one. */
  readonly version: bigint | null
  /** The slot; the only one there was before v0.15 is the primary. */
  readonly timeline: 'primary' | 'secondary'
  readonly earliest: bigint | null
  readonly microseconds: number
  /** Used share of the database, from 0 to 1. */
  readonly usedRatio: number
  readonly chunks: { readonly fast: bigint; readonly slow: bigint; readonly free: bigint }
}

/** The summary behind each block. */
export interface BlockRun {
  readonly event: 'run'
  readonly number: bigint
  readonly residentBytes: number
}

export interface Finalization {
  readonly event: 'finalized'
  readonly number: bigint
  readonly id: string
}

type Reader = (message: string) => ExecutionEvent | string

/**
 * Parses one line. What stands before the message is of no account: time, thread, file and the number
 * of a line in it, which is another in each release; before that, where lines were pasted from a
 * terminal, time, host and program. Null for what is none of the four lines that come with each block.
 * Throws a ParseError for one of them that is not understood.
 */
export const parseExecutionLine = (text: string): ExecutionEvent | null => {
  const [head, beginning = ''] = BEGINNING.exec(text) ?? []
  const read = READERS.get(beginning)
  if (head === undefined || !read) return null
  const said = read(text.slice(head.length - beginning.length))
  if (typeof said === 'string') throw new ParseError('a line of the execution log', said, text)
  return said
}

const UPSERT =
  /^Finish upserting version +(\d+)(?: \(timeline ([01])\))?\. Min valid version +(\d+)\. Time elapsed: +(\d{1,15}) us\. Disk usage: +([01](?:\.\d+)?)\. Chunks: +(\d+) fast, +(\d+) slow, +(\d+) free/

const readUpsert: Reader = (message) => {
  const [, version = '', timeline, earliest = '', took, used, ...lists] = UPSERT.exec(message) ?? []
  const [fast, slow, free] = lists.map(parseU64)
  const told = { version: unlessNever(version), earliest: unlessNever(earliest) }
  if (told.version === undefined || told.earliest === undefined || Number(used) > 1) {
    return 'version, timeline 0 or 1, smallest version, time in us, use and chunks'
  }
  if (fast === undefined || slow === undefined || free === undefined) return 'numbers of chunks'
  return {
    event: 'upserted',
    version: told.version,
    timeline: timeline === '1' ? 'secondary' : 'primary',
    earliest: told.earliest,
    microseconds: Number(took),
    usedRatio: Number(used),
    chunks: { fast, slow, free },
  }
}

/** The program divides by 2^20 and prints MB. */
const MIB = 2 ** 20

const readRun: Reader = (message) => {
  const [, block = '', megabytes] =
    /^Run to block= *(\d+),(?:.*,)? rss = *(\d{1,9}) MB/.exec(message) ?? []
  const number = parseU64(block)
  if (number === undefined) return 'a block and "rss = … MB"'
  return { event: 'run', number, residentBytes: Number(megabytes) * MIB }
}

const readFinalization: Reader = (message) => {
  const [, block = '', id = ''] =
    /^Processing finalization for block +(\d+) with block_id (\S+)\s*$/.exec(message) ?? []
  const number = parseU64(block)
  if (number === undefined || !BLOCK_ID.test(id)) return 'a block and a block_id of 64 hex digits'
  return { event: 'finalized', number, id: id.toLowerCase() }
}

/** Null for the mark of what was never set; undefined for what is no number. */
const unlessNever = (text: string): bigint | null | undefined =>
  text === String(SENTINEL) ? null : parseU64(text)

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['__exec_block,', readExecutedBlock],
  ['Finish upserting version', readUpsert],
  ['Run to block=', readRun],
  ['Processing finalization for block', readFinalization],
])

/** What journalctl may leave out is what does not match this. With a capital letter in it, case matters. */
export const EXECUTION_LOG_PATTERN = `^(?:.{0,300}?\\s)?(${[...READERS.keys()].join('|')})`

const BEGINNING = new RegExp(EXECUTION_LOG_PATTERN)
