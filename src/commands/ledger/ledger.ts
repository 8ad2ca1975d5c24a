import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { type JournalEntry, parseJournalEntry } from '../../parsers/journal.ts'
import { type LedgerEvent, parseLedgerLine } from '../../parsers/ledger-tail.ts'
import { createExec } from '../../sources/exec.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { readRecording, type Recording } from '../../sources/recording.ts'
import { askAgent } from '../shared/ask-agent.ts'
import { type Batch, readJournal } from '../shared/journal-reader.ts'
import { createRounds, type LedgerRow, type LedgerSummary } from './rounds.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends StandIns {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

interface Wanted {
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The last so many blocks. */
  readonly newest?: number | undefined
  readonly follow?: boolean
  /** Instead of the journal: lines of the stream, or of `journalctl -o json`. */
  readonly recording?: () => Recording
}

export interface LedgerBatch {
  readonly rows: readonly LedgerRow[]
  readonly summary: LedgerSummary & {
    /** Lines that look like the stream's and are not understood. */
    readonly unparsed: number
  }
}

/** Two lines a block, timeouts, and what the program says beside the stream. */
const ENTRIES_A_BLOCK = 4
const ENTRIES_BESIDE = 50
/** Of a long file, those that are too old are let go now and then. */
const TRIMMED_EVERY = 10_000

/** The ledger stream as rows for a reader. Throws a SourceError where it cannot be read. */
export async function* readLedger(options: Options, wanted: Wanted): AsyncGenerator<LedgerBatch> {
  const { newest, since = -Infinity, until = Infinity, recording } = wanted
  const rounds = createRounds(await findOwnKey(options))
  let unparsed = 0
  const understand = ({ message, fields }: JournalEntry): readonly LedgerEvent[] => {
    // What systemd and journald say of the unit comes along with what the unit says.
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
  /** Of what is there, the last so many blocks; told when its end is reached. */
  let waiting: LedgerEvent[] = []
  let most = TRIMMED_EVERY
  try {
    for await (const { entries, isPast } of batchesOf(options, wanted)) {
      const events = entries.flatMap(understand)
      if (newest !== undefined && isPast) {
        waiting.push(...events)
        if (waiting.length <= most) continue
        waiting = lastBlocks(waiting, newest)
        most = waiting.length + TRIMMED_EVERY
      } else {
        yield batch([...lastBlocks(waiting, newest), ...events])
        waiting = []
      }
    }
    if (!options.signal.aborted) yield batch(lastBlocks(waiting, newest))
  } catch (error) {
    // Who has had enough has not met a failure.
    if (!options.signal.aborted) throw error
  }
}

/** From the file, or from the journal. */
async function* batchesOf(options: Options, wanted: Wanted): AsyncGenerator<Batch> {
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
    const most = newest === undefined ? undefined : newest * ENTRIES_A_BLOCK + ENTRIES_BESIDE
    yield* readJournal({ exec, clock, signal }, { ...stretch, unit, newest: most })
  } finally {
    if (!options.exec) exec.killAll()
  }
}

/** An entry of the journal, or a line of the stream alone. */
const entryOf = (line: string): JournalEntry =>
  line.includes('"__CURSOR"')
    ? parseJournalEntry(line)
    : { cursor: '', at: 0, unit: null, message: line, fields: {} }

/** Each proposal with what was told since the one before it. */
const lastBlocks = (events: LedgerEvent[], most = Infinity): LedgerEvent[] => {
  let blocks = 0
  const first = events.findLastIndex(({ event }) => {
    if (event === 'proposed') blocks += 1
    return blocks > most
  })
  return events.slice(first + 1)
}

const statusSchema = z.object({ config: z.object({ secpPublicKey: z.string() }) })

/** As it is configured, or as the agent has it from the node's own status report; null where neither tells. */
const findOwnKey = async (options: Options): Promise<string | null> => {
  const { publicKey } = options.config.node
  if (publicKey !== null) return publicKey
  try {
    const picture = await askAgent(options)
    const told = picture?.collectors.find(({ name }) => name === 'status')
    return statusSchema.safeParse(told?.reading).data?.config.secpPublicKey ?? null
  } catch (error) {
    // The ledger can be read without an agent.
    if (error instanceof SourceError || error instanceof ParseError) return null
    throw error
  }
}
