import { excerpt, ParseError } from '../core/errors.ts'
import {
  type ChunkList,
  type Draft,
  emptyDraft,
  type IdentifiedBlock,
  type ListName,
  plainLines,
  readSentence,
  type StorageDevice,
  type Timeline,
  type TimelineName,
} from './mpt-sentences.ts'

/**
 * The layouts from the newest to the oldest, each with what only it and newer ones have: E since v0.15, D never released,
 * C to v0.14, B to v0.12.0. A, to v0.10, has none of it.
 */
const LAYOUTS = [
  ['E', 'layout E'],
  ['D', 'layout D'],
  ['C', 'proposed'],
  ['B', 'layout B'],
] as const

/**
 * The storage tool's report on the database, in every layout so far. Null is a value that the report omits or marks as
 * unknown.
 */
export interface StorageReport {
  /** The oldest layout that has everything found in the report. */
  readonly layout: (typeof LAYOUTS)[number][0] | 'A'
  readonly devices: readonly StorageDevice[]
  /** Null if the list was not printed. */
  readonly lists: Readonly<Record<ListName, ChunkList | null>>
  /** Before layout D there is only one timeline, reported as the primary. */
  readonly timelines: Readonly<Record<TimelineName, Timeline | null>>
  /** The limit on the history in blocks, which changes with the disk usage. Not a height. */
  readonly historyMaxBlocks: bigint | null
  readonly latestBlock: Readonly<
    Record<'proposed' | 'voted', IdentifiedBlock | null> & Record<'finalized' | 'verified', bigint | null>
  >
  /** False for a truncated report, and for reports of 2024, which end in the same way. */
  readonly complete: boolean
  /** Lines that could not be parsed, or only in part. */
  readonly unknownLines: number
}

/**
 * Parses the output of `chain-mpt --storage …`. Truncated or unknown parts are left out. Throws a ParseError if it has
 * neither a device row nor a history.
 */
export const parseStorageReport = (text: string): StorageReport => {
  const lines = plainLines(text).map((line) => line.trimStart())
  const report = readReport(text, lines)
  const last = lines.at(-1) ?? ''
  if (report.complete || last === '') return report
  // The report is truncated within a line: "3728" may be the beginning of "37281107".
  const cut = last.slice(0, last.lastIndexOf(' ') + 1).trimEnd()
  return { ...readReport(text, [...lines.slice(0, -1), cut]), complete: false }
}

/** Until v0.14.3 the tool writes log lines to standard output as well. */
const LOG_LINE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ .*\bLOG_[A-Z]+/

const readReport = (text: string, lines: readonly string[]): StorageReport => {
  const draft = emptyDraft()
  const result = lines.filter((line) => line !== '' && !LOG_LINE.test(line)).map((line) => readSentence(draft, line))
  if (!draft.seen.has('device') && !draft.seen.has('history')) {
    throw new ParseError('the report on the storage', 'a row of a device, or the history', text)
  }
  const layout = layoutOf(draft)
  return {
    layout,
    devices: draft.devices,
    lists: draft.lists,
    timelines: draft.timelines,
    historyMaxBlocks: draft.historyMaxBlocks,
    latestBlock: draft.latest,
    complete: !result.includes('part') && hasAll(draft, layout),
    unknownLines: result.filter((how) => how !== 'whole').length,
  }
}

const layoutOf = ({ seen }: Draft): StorageReport['layout'] =>
  LAYOUTS.find(([, sentence]) => seen.has(sentence))?.[0] ?? 'A'

const hasAll = ({ seen, timelines }: Draft, layout: StorageReport['layout']): boolean => {
  const names: readonly TimelineName[] = timelines.secondary ? ['primary', 'secondary'] : ['primary']
  const ofTimelines = ['historyBlocks', 'autoExpireBlock', ...(layout >= 'E' ? ['kind'] : [])]
  const sentences = ['device', 'fast', 'slow', 'free', 'retention', 'finalized']
  return sentences
    .concat(names.flatMap((name) => ofTimelines.map((part) => `${name} ${part}`)))
    .every((sentence) => seen.has(sentence))
}

/** Known error messages of the storage tool, with advice. */
const KNOWN_FAILURES: readonly (readonly [RegExp, string])[] = [
  [
    /DB is on older format/,
    'the package is newer than the database: stop the services together, run the tool with --upgrade once, start them together',
  ],
  [/closed dirty/, 'no action needed: the node was writing, and the agent reads again at the next interval'],
  [
    /Neither copy of the DB metadata is valid/,
    'check that storage.devices names the device of the database; if it does, the database is damaged (docs/how-to/hard-reset.md)',
  ],
  [/has not been initialised for use with storage pool/, "this is not the node's database: correct storage.devices"],
  [
    /DB was generated with version/,
    "the tool and the database are of different releases: use the tool of the node's own package, and do not reset the database",
  ],
  [
    /open failed/,
    'check that the device in storage.devices exists and that this user can read it (group, DeviceAllow=)',
  ],
  [
    /io_uring/,
    'the kernel or the sandbox forbids io_uring: check kernel.io_uring_disabled, SystemCallFilter=, LimitMEMLOCK=',
  ],
  [/MAP_FAILED/, 'no free huge pages of 2 MiB, or the sandbox forbids them: check HugePages_Free in /proc/meminfo'],
  [/--storage is required/, 'name a device in storage.devices'],
]

/** The last line of a crash: `PROGRAM: FILE:LINE: FUNCTION: Assertion 'x' failed.`, or `…_ABORT called.`. */
const CRASH = /: (Assertion '.*' failed\.|[A-Z]+_ABORT called\.)$/
const FATAL = /^FATAL: (.+)$/
const LABEL = /^(?:assertion failure|abort) message: /

export interface StorageFailure {
  /** The tool's error message, on one line. */
  readonly message: string
  /** What to do; undefined for an unknown message. */
  readonly advice: string | undefined
}

/** Why the storage tool failed, from its standard error; null if standard error has no reason. */
export const readStorageFailure = (stderr: string): StorageFailure | null => {
  const message = messageOf(plainLines(stderr))
  if (message === null) return null
  const [, advice] = KNOWN_FAILURES.find(([pattern]) => pattern.test(message)) ?? []
  return { message: excerpt(message), advice }
}

/** How much of the end of a line is searched: a line may be of any length. */
const MAX_LINE_END = 4096

const messageOf = (lines: readonly string[]): string | null => {
  for (const [at, line] of lines.entries()) {
    const [, fatal] = FATAL.exec(line) ?? []
    if (fatal !== undefined) return fatal
    const [, crash] = CRASH.exec(line.slice(-MAX_LINE_END)) ?? []
    // The reason, if any, is on the next line.
    if (crash !== undefined) return lines[at + 1]?.replace(LABEL, '') || crash
  }
  // A truncated crash message, or a wrapper program around the tool.
  return lines.find((line) => KNOWN_FAILURES.some(([pattern]) => pattern.test(line)))?.trim() ?? null
}
