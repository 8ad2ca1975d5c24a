import { createRecentSet } from '../../collectors/shared/recent-set.ts'
import {
  type FinalizedBlock,
  type LedgerEvent,
  parseLedgerLine,
  type ProposedBlock,
  type Timeout,
} from '../../parsers/ledger-tail.ts'
import type { Config } from '../../config/schema.ts'
import { ParseError } from '../../core/errors.ts'
import { type JournalEntry, parseJournalEntry, withoutPrintedPrefix } from '../../parsers/journal.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { openRecording, readRecording, type Recording } from '../../sources/journal-range.ts'
import { type Batch, readJournal } from '../../agent/journal-reader.ts'
import type { Io, SourceContext } from '../../terminal/io.ts'
import { larger, smaller } from '../../core/units.ts'

/** Rounds from one to another, both inclusive. */
interface RoundRange {
  readonly kind: 'skipped' | 'unseen'
  readonly from: bigint
  readonly to: bigint
  /** When the block after them was announced, in milliseconds since the epoch. */
  readonly at: number
}

/**
 * A row of the ledger: an event of the stream, skipped rounds without a timeout event, or rounds that are not in the
 * log. `isOwn` is null if the key of the node is unknown.
 */
export type LedgerRow = ((ProposedBlock | FinalizedBlock | Timeout) & { readonly isOwn: boolean | null }) | RoundRange

/** More events than the program repeats when it starts. */
const MAX_REMEMBERED = 512

/** Folds the stream into rows. Repeated events are dropped. */
export const createRounds = (ownKey: string | null) => {
  const known = createRecentSet(MAX_REMEMBERED)
  /** Timeouts of rounds after the newest block. */
  const timeouts = new Set<bigint>()
  let settled: bigint | null = null
  /** Skipped are rounds without a block, with or without a timeout event. */
  const total = { blocks: 0, finalized: 0, transactions: 0n, unseen: 0n, skipped: 0n }
  const own = { blocks: 0, timeouts: 0 }
  const range = { firstRound: NO, lastRound: NO, firstBlock: NO, lastBlock: NO }

  const before = (block: ProposedBlock): readonly RoundRange[] => {
    const { round, parentRound, seqNum, writtenAt: at } = block
    const previous = settled
    const isNext = range.lastBlock !== null && seqNum === range.lastBlock + 1n
    settled = larger(previous, round)
    // Some versions omit the parent: it is the previous block if the numbers are consecutive.
    const parent = parentRound ?? (isNext ? previous : null)
    if (parent === null) {
      return previous === null ? [] : runs(previous + 1n, round - 1n, { kind: 'unseen', at })
    }
    const unseen = previous !== null && parent > previous
    return [
      ...(unseen ? runs(previous + 1n, parent, { kind: 'unseen', at }) : []),
      ...runs(larger(previous, parent) + 1n, round - 1n, { kind: 'skipped', at }),
    ]
  }

  /** Counts all rounds of the range, and returns those without an event as rows. */
  const runs = (from: bigint, to: bigint, { kind, at }: Pick<RoundRange, 'kind' | 'at'>): readonly RoundRange[] => {
    if (to < from) return []
    total[kind] += to - from + 1n
    const timedOut = [...timeouts].filter((round) => round >= from && round <= to).toSorted(ascending)
    const rows: RoundRange[] = []
    let next = from
    for (const round of [...timedOut, to + 1n]) {
      timeouts.delete(round)
      if (round > next) rows.push({ kind, from: next, to: round - 1n, at })
      next = round + 1n
    }
    return rows
  }

  return {
    add: (event: LedgerEvent): readonly LedgerRow[] => {
      const height = event.event === 'timeout' ? '' : event.seqNum
      if (!known.add(`${event.event}:${height}:${event.round}`)) return []
      const isOwn = ownKey === null ? null : event.author === ownKey
      if (event.event === 'finalized') {
        total.finalized += 1
        return [{ ...event, isOwn }]
      }
      range.firstRound = smaller(range.firstRound, event.round)
      range.lastRound = larger(range.lastRound, event.round)
      if (event.event === 'timeout') {
        if (settled === null || event.round > settled) timeouts.add(event.round)
        if (isOwn) own.timeouts += 1
        return [{ ...event, isOwn }]
      }
      const rows = [...before(event), { ...event, isOwn }]
      range.firstBlock = smaller(range.firstBlock, event.seqNum)
      range.lastBlock = larger(range.lastBlock, event.seqNum)
      total.blocks += 1
      total.transactions += event.transactions
      if (isOwn) own.blocks += 1
      return rows
    },
    /** `own` is null if the key of the node is unknown. */
    summary: () => ({
      ...range,
      ...total,
      skipped: total.skipped + BigInt(timeouts.size),
      own: ownKey === null ? null : { ...own },
    }),
  }
}

const NO: bigint | null = null

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : 1)

interface Options extends SourceContext {
  readonly config: Config
  /** The key of the node; null if it is unknown. */
  readonly ownKey: string | null
}

interface LedgerQuery {
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The last N blocks. */
  readonly newest?: number | undefined
  readonly follow?: boolean
  /** Replaces the journal: lines of the stream, or of `journalctl -o json`. */
  readonly recording?: (() => Recording) | undefined
}

export interface LedgerBatch {
  readonly rows: readonly LedgerRow[]
  /** `unparsed`: lines of the stream that could not be parsed. */
  readonly summary: ReturnType<ReturnType<typeof createRounds>['summary']> & { readonly unparsed: number }
  /** Lines that were read from the recording or the journal. */
  readonly lines: number
}

/** Two lines per block, timeouts, and other output of the program. */
const ENTRIES_PER_BLOCK = 4
const EXTRA_ENTRIES = 50
/** The number of events after which those of old blocks are dropped. */
const TRIM_INTERVAL = 10_000

/** The ledger stream as rows. Throws a SourceError if it cannot be read. */
export async function* readLedger(options: Options, wanted: LedgerQuery): AsyncGenerator<LedgerBatch> {
  const { newest, since = -Infinity, until = Infinity, recording } = wanted
  const rounds = createRounds(options.ownKey)
  let unparsed = 0
  let lines = 0
  const understand = ({ message, fields }: JournalEntry): readonly LedgerEvent[] => {
    // The journal of a unit also has messages of systemd and journald about it.
    if (message === null || fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields) return []
    try {
      const event = parseLedgerLine(message)
      const isWithin = !recording || (event && event.writtenAt >= since && event.writtenAt <= until)
      return event && isWithin ? [event] : []
    } catch (error) {
      if (!(error instanceof ParseError)) throw error
      unparsed += 1
      return []
    }
  }
  const batch = (events: readonly LedgerEvent[]): LedgerBatch => ({
    rows: events.flatMap(rounds.add),
    summary: { ...rounds.summary(), unparsed },
    lines,
  })
  /** Past events, held back until the last N blocks are known. */
  let waiting: LedgerEvent[] = []
  let most = TRIM_INTERVAL
  try {
    for await (const { entries, isPast } of batchesOf(options, wanted)) {
      lines += entries.length
      const events = entries.flatMap(understand)
      if (newest !== undefined && isPast) {
        waiting.push(...events)
        if (waiting.length <= most) continue
        waiting = lastBlocks(waiting, newest)
        most = waiting.length + TRIM_INTERVAL
      } else {
        yield batch([...lastBlocks(waiting, newest), ...events])
        waiting = []
      }
    }
    if (!options.signal.aborted) yield batch(lastBlocks(waiting, newest))
  } catch (error) {
    // An interruption is no failure.
    if (!options.signal.aborted) throw error
  }
}

/** From the file, or from the journal. */
async function* batchesOf(options: Options, wanted: LedgerQuery): AsyncGenerator<Batch> {
  const { config, clock, path, signal } = options
  const { recording, newest, ...stretch } = wanted
  if (recording) {
    for await (const { entries } of readRecording(recording(), entryOf)) {
      if (signal.aborted) return
      yield { entries, isPast: true, steps: [] }
    }
    return
  }
  const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
  try {
    const { word } = await createPrefix({ exec, path, configured: config.prefix })(signal)
    const unit = config.ledger.unit.replaceAll('{prefix}', word)
    const most = newest === undefined ? undefined : newest * ENTRIES_PER_BLOCK + EXTRA_ENTRIES
    yield* readJournal({ exec, clock, signal }, { ...stretch, unit, newest: most })
  } finally {
    if (!options.exec) exec.killAll()
  }
}

/** An entry of the journal, or a line of the stream alone, also as journalctl prints it. */
const entryOf = (line: string): JournalEntry =>
  line.includes('"__CURSOR"')
    ? parseJournalEntry(line)
    : { cursor: '', at: 0, unit: null, message: withoutPrintedPrefix(line), fields: {} }

/** The events from the last `most` proposals on, each with the events since the proposal before it. */
const lastBlocks = (events: LedgerEvent[], most = Infinity): LedgerEvent[] => {
  let blocks = 0
  const first = events.findLastIndex(({ event }) => {
    if (event === 'proposed') blocks += 1
    return blocks > most
  })
  return events.slice(first + 1)
}

/** The recording of --file. Opened when it is read: an error of a stream without listeners would end the process. */
export const recordingOf = (
  { stdin, signal }: Pick<Io, 'stdin' | 'signal'>,
  file: string | undefined,
): (() => Recording) | undefined => {
  if (file === undefined) return undefined
  return () => (file === '-' ? { name: 'standard input', bytes: stdin } : openRecording(file, signal))
}
