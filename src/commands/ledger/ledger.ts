import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { type JournalEntry, parseJournalEntry } from '../../parsers/journal.ts'
import { type LedgerEvent, parseLedgerLine } from '../../parsers/ledger-tail.ts'
import { createExec } from '../../sources/exec.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { readRecording, type Recording } from '../../sources/recording.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { type Batch, readJournal } from '../shared/journal-reader.ts'
import { createRounds, type LedgerRow, type LedgerSummary } from './round-tracker.ts'
import type { SourceOverrides } from '../../cli/io.ts'

interface Options extends SourceOverrides {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

interface LedgerQuery {
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The last N blocks. */
  readonly newest?: number | undefined
  readonly follow?: boolean
  /** Replaces the journal: lines of the stream, or of `journalctl -o json`. */
  readonly recording?: () => Recording
}

export interface LedgerBatch {
  readonly rows: readonly LedgerRow[]
  readonly summary: LedgerSummary & {
    /** Lines of the stream that could not be parsed. */
    readonly unparsed: number
  }
}

/** Two lines per block, timeouts, and other output of the program. */
const ENTRIES_PER_BLOCK = 4
const EXTRA_ENTRIES = 50
/** The number of events after which those of old blocks are dropped. */
const TRIM_INTERVAL = 10_000

/** The ledger stream as rows. Throws a SourceError if it cannot be read. */
export async function* readLedger(options: Options, wanted: LedgerQuery): AsyncGenerator<LedgerBatch> {
  const { newest, since = -Infinity, until = Infinity, recording } = wanted
  const rounds = createRounds(await findOwnKey(options))
  let unparsed = 0
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
  })
  /** Past events, held back until the last N blocks are known. */
  let waiting: LedgerEvent[] = []
  let most = TRIM_INTERVAL
  try {
    for await (const { entries, isPast } of batchesOf(options, wanted)) {
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
      yield { entries, isPast: true }
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

/** An entry of the journal, or a line of the stream alone. */
const entryOf = (line: string): JournalEntry =>
  line.includes('"__CURSOR"') ? parseJournalEntry(line) : { cursor: '', at: 0, unit: null, message: line, fields: {} }

/** The events from the last `most` proposals on, each with the events since the proposal before it. */
const lastBlocks = (events: LedgerEvent[], most = Infinity): LedgerEvent[] => {
  let blocks = 0
  const first = events.findLastIndex(({ event }) => {
    if (event === 'proposed') blocks += 1
    return blocks > most
  })
  return events.slice(first + 1)
}

/** From the configuration, or from the status report that the agent has read; null if it is unknown. */
const findOwnKey = async (options: Options): Promise<string | null> => {
  const { publicKey } = options.config.node
  if (publicKey !== null) return publicKey
  try {
    return (await fetchSnapshot(options))?.readings.status?.config.secpPublicKey ?? null
  } catch (error) {
    // The ledger can be read without an agent.
    if (error instanceof SourceError || error instanceof ParseError) return null
    throw error
  }
}
