import { withinBounds } from '../core/bounds.ts'
import { excerpt, ParseError } from '../core/errors.ts'
import { widen } from '../core/widen.ts'
import { parseU64 } from '../core/units.ts'

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

type Layout = (typeof LAYOUTS)[number][0] | 'A'

/**
 * The storage tool's report on the database, in every layout so far. Null is a value that the report omits or marks as
 * unknown.
 */
export type StorageReport = ReturnType<typeof readReport>

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

const readReport = (text: string, lines: readonly string[]) => {
  const draft = emptyDraft()
  const result = lines.filter((line) => line !== '' && !LOG_LINE.test(line)).map((line) => readSentence(draft, line))
  if (!draft.seen.has('device') && !draft.seen.has('history')) {
    throw new ParseError('the report on the storage', 'a row of a device, or the history', text)
  }
  const { seen, timeline: _, ...values } = draft
  const layout: Layout = LAYOUTS.find(([, sentence]) => seen.has(sentence))?.[0] ?? 'A'
  return {
    /** The oldest layout that has everything found in the report. */
    layout,
    ...values,
    /** False for a truncated report, and for reports of 2024, which end in the same way. */
    complete: !result.includes('part') && hasAll(draft, layout),
    /** Lines that could not be parsed, or only in part. */
    unknownLines: result.filter((how) => how !== 'whole').length,
  }
}

const hasAll = ({ seen, timelines }: Draft, layout: Layout): boolean => {
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

/**
 * Why the storage tool failed, from its standard error: its message on one line, and what to do, undefined for an unknown
 * message. Null if standard error has no reason.
 */
export const readStorageFailure = (stderr: string) => {
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

interface StorageDevice {
  /** The resolved path: `/dev/nvme0n1p1` for a link to it. Empty for a deleted file. */
  readonly path: string
  readonly capacityBytes: number | null
  readonly usedBytes: number | null
  /** From the printed percentage, which the tool computes from exact bytes. */
  readonly usedRatio: number | null
}

type ListName = 'fast' | 'slow' | 'free'

interface ChunkList {
  readonly chunks: number
  /** Null if the line is truncated before it. */
  readonly capacityBytes: number | null
  readonly usedBytes: number | null
}

interface Timeline {
  /** The state encoding as printed; only in layout E. */
  readonly kind: string | null
  /** 0 if the report calls the timeline empty. */
  readonly historyBlocks: bigint | null
  readonly earliestBlock: bigint | null
  readonly latestBlock: bigint | null
  /** May be 0 or negative. */
  readonly autoExpireBlock: bigint | null
}

interface IdentifiedBlock {
  readonly number: bigint
  /** 64 hex digits, no 0x; null in layout A. */
  readonly id: string | null
  /** Only for the voted block in layout A. */
  readonly round: bigint | null
}

type TimelineName = 'primary' | 'secondary'

/** The values parsed so far. */
type Draft = ReturnType<typeof emptyDraft>

const emptyDraft = () => ({
  devices: new Array<StorageDevice>(),
  /** Null if the list was not printed. */
  lists: widen<Record<ListName, ChunkList | null>>({ fast: null, slow: null, free: null }),
  /** Before layout D there is only one timeline, reported as the primary. */
  timelines: widen<Record<TimelineName, Timeline | null>>({ primary: null, secondary: null }),
  /** The limit on the history in blocks, which changes with the disk usage. Not a height. */
  historyMaxBlocks: widen<bigint | null>(null),
  latestBlock: {
    ...widen<Record<'proposed' | 'voted', IdentifiedBlock | null>>({ proposed: null, voted: null }),
    ...widen<Record<'finalized' | 'verified', bigint | null>>({ finalized: null, verified: null }),
  },
  /** The timeline of the current section (layout E). */
  timeline: widen<TimelineName | null>(null),
  /** Which sentences were found: the value of a sentence may be unknown although the sentence is there. */
  seen: new Set<string>(),
})

/** Adds values to a timeline. A sentence counts as found even if its value is unknown. */
const addToTimeline = (draft: Draft, name: TimelineName, found: Partial<Timeline>): void => {
  const nothing = { kind: null, historyBlocks: null, earliestBlock: null, latestBlock: null, autoExpireBlock: null }
  draft.timelines[name] = { ...nothing, ...draft.timelines[name], ...found }
  for (const part of Object.keys(found)) draft.seen.add(`${name} ${part}`)
}

/** Binary multiples under decimal names: `1.00 Kb` is 1024 bytes. */
const UNITS = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb', 'Pb'] as const

/** The pattern of a size as the storage tool prints it. */
const SIZE = String.raw`\d{1,6}\.\d\d (?:${UNITS.join('|')})`

const WHOLE = new RegExp(`^${SIZE}$`)

/** `24.30 Gb` in bytes, rounded, as the tool prints two decimals; null for any other text and an impossible size. */
export const parseSize = (text: string): number | null => {
  if (!WHOLE.test(text)) return null
  const [amount = '', unit = ''] = text.split(' ')
  return withinBounds('bytes', Math.round(Number(amount) * 1024 ** UNITS.findIndex((name) => name === unit)))
}

/** `16.24` percent as the nearest number to 0.1624. */
const parsePercent = (digits: string): number | null => withinBounds('ratio', Number(`${digits}e-2`))

type Groups = readonly (string | undefined)[]

interface Rule {
  /** Matches a number only together with the text after it: a line may be truncated anywhere. */
  readonly pattern: RegExp
  /** Adds the sentence's values to the draft; false if its end is missing. */
  take(draft: Draft, groups: Groups): boolean
}

/** Reads a trimmed line into the draft; `part` if the line does not end as expected. */
const readSentence = (draft: Draft, line: string): 'whole' | 'part' | 'unknown' => {
  for (const { pattern, take } of RULES) {
    const found = pattern.exec(line)
    if (found) return take(draft, found) && found[0].length === line.length ? 'whole' : 'part'
  }
  return 'unknown'
}

const u64 = (digits: string | undefined): bigint | null => parseU64(digits ?? '') ?? null

const i64 = (digits: string | undefined): bigint | null => (digits ? withinBounds('i64', BigInt(digits)) : null)

const timelineOf = (word: string | undefined): TimelineName => (word === 'Secondary' ? 'secondary' : 'primary')

const takeHistory = (draft: Draft, name: TimelineName, groups: Groups): boolean => {
  const [, empty, blocks, earliest, latest] = groups
  draft.seen.add('history')
  if (empty !== undefined) {
    addToTimeline(draft, name, { historyBlocks: 0n })
    return empty.endsWith(')')
  }
  const [earliestBlock, latestBlock] = [u64(earliest), u64(latest)]
  // A database that was never written to prints "1" block, from sentinel to sentinel.
  const isKnown = earliestBlock !== null && latestBlock !== null
  const historyBlocks = isKnown ? u64(blocks) : null
  addToTimeline(draft, name, { historyBlocks, earliestBlock, latestBlock })
  return latest !== undefined
}

/** The history of a timeline, in the words of the layouts before E. */
const historyAfter = (beginning: string): RegExp =>
  new RegExp(
    String.raw`^${beginning} (?:(empty\b.*)|(\d{1,20}) history,)(?: earliest is (\d{1,20}),?(?= )(?: latest is (\d{1,20})\.)?)?`,
  )

const RULES: readonly Rule[] = [
  {
    pattern: /^(?:MPT database on storages:|Capacity\s+Used\s+%\s+Path|MPT database internal lists:)$/,
    take: () => true,
  },
  {
    // At 100.00 there is no space before the percentage.
    pattern: new RegExp(String.raw`^(${SIZE})\s*(${SIZE})\s*(\d{1,3}\.\d\d)%\s+"([^"\\]*(?:\\.[^"\\]*)*)"`),
    take: ({ devices, seen }, [, capacity = '', used = '', percent = '', path = '']) => {
      seen.add('device')
      devices.push({
        path: path.replaceAll(/\\(.)/g, '$1'),
        capacityBytes: parseSize(capacity),
        usedBytes: parseSize(used),
        usedRatio: parsePercent(percent),
      })
      return true
    },
  },
  {
    pattern: new RegExp(
      String.raw`^(Fast|Slow|Free): (\d{1,9}) chunks\b(?: with capacity (${SIZE})(?: used (${SIZE}))?)?`,
    ),
    take: ({ lists, seen }, [, word, count, capacity, used]) => {
      const name = word === 'Fast' ? 'fast' : word === 'Slow' ? 'slow' : 'free'
      const chunks = Number(count)
      seen.add(name)
      // For an empty list the tool prints only the count.
      const none = chunks === 0 ? 0 : null
      lists[name] = {
        chunks,
        capacityBytes: capacity === undefined ? none : parseSize(capacity),
        usedBytes: used === undefined ? none : parseSize(used),
      }
      return chunks === 0 || used !== undefined
    },
  },
  {
    pattern: /^(MPT database|It) has been configured to retain no more than (\d{1,20})(?: versions)?(?=[. ])\.?/,
    take: (draft, [, subject, blocks]) => {
      draft.seen.add('retention')
      if (subject !== 'It') draft.seen.add('layout E')
      draft.historyMaxBlocks = u64(blocks)
      return true
    },
  },
  {
    pattern: historyAfter('MPT database has'),
    take: (draft, groups) => takeHistory(draft, 'primary', groups),
  },
  {
    pattern: historyAfter('Secondary timeline is active:'),
    take: (draft, groups) => {
      draft.seen.add('layout D')
      return takeHistory(draft, 'secondary', groups)
    },
  },
  {
    pattern: /^History: (?:(empty\b.*)|(\d{1,20}) versions,)(?: earliest is (\d{1,20}),(?: latest is (\d{1,20})$)?)?/,
    take: (draft, groups) => draft.timeline !== null && takeHistory(draft, draft.timeline, groups),
  },
  {
    pattern: /^Latest (proposed|voted) is \((\d{1,20}),(?: ([0-9a-f]{64}|\d{1,20})\)\.)?/,
    take: ({ latestBlock, seen }, [, word, digits, detail]) => {
      const name = word === 'proposed' ? 'proposed' : 'voted'
      const number = u64(digits)
      const id = detail?.length === 64 ? detail : null
      const round = id === null ? u64(detail) : null
      seen.add(name)
      if (id !== null) seen.add('layout B')
      latestBlock[name] = number === null ? null : { number, id, round }
      return detail !== undefined
    },
  },
  {
    pattern:
      /^Latest finalized is (\d{1,20}),(?: latest verified is (\d{1,20})(?=,|$)(?:, auto expire version is (-?\d{1,20})(?=$| )(?: \(primary\), (-?\d{1,20}) \(secondary\))?)?)?/,
    take: (draft, [, finalized, verified, expire, secondary]) => {
      draft.latestBlock.finalized = u64(finalized)
      draft.latestBlock.verified = u64(verified)
      if (verified !== undefined) draft.seen.add('finalized')
      if (expire !== undefined) addToTimeline(draft, 'primary', { autoExpireBlock: i64(expire) })
      if (secondary !== undefined) {
        draft.seen.add('layout D')
        addToTimeline(draft, 'secondary', { autoExpireBlock: i64(secondary) })
      }
      return verified !== undefined
    },
  },
  {
    pattern: /^(?:Active timelines|(Primary|Secondary)):$/,
    take: (draft, [, word]) => {
      draft.seen.add('layout E')
      draft.timeline = word === undefined ? null : timelineOf(word)
      if (draft.timeline) addToTimeline(draft, draft.timeline, {})
      return true
    },
  },
  {
    pattern: /^(?:State machine kind: ([\w-]{1,40})|Auto expire version: (-?\d{1,20}))$/,
    take: (draft, [, kind, expire]) => {
      if (draft.timeline === null) return false
      addToTimeline(draft, draft.timeline, kind === undefined ? { autoExpireBlock: i64(expire) } : { kind })
      return true
    },
  },
]

// oxlint-disable-next-line no-control-regex -- colours and pager output
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\([0AB])/g

/** The lines of terminal output, without escape sequences and trailing whitespace. */
export const plainLines = (text: string): readonly string[] =>
  text
    .replaceAll(ESCAPES, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimEnd())
