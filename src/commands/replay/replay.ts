import type { Readable } from 'node:stream'
import { setMaxListeners } from 'node:events'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { createExec } from '../../sources/exec.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { openRecording } from '../../sources/recording.ts'
import { openFile, openJournal, type PastSource } from './past-source.ts'
import type { SourceOverrides } from '../../cli/io.ts'
import { duration } from '../../core/format.ts'
import { Board } from '../../core/board.ts'
import { createSampleIndex } from '../../core/sample-index.ts'
import { supervise } from '../../core/supervise.ts'
import { minute, second } from '../../core/units.ts'
import { createRuleEvaluator, type Firing } from '../../health/incidents/rule-evaluator.ts'
import { createCounterHistory } from '../../health/incidents/counter-history.ts'
import { createReplayCollectors, createReplayJournal } from './collectors.ts'
import { createBootTracker, createServiceRuns } from './boot-tracker.ts'
import { createVirtualClock, settle } from '../../core/virtual-clock.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'

interface ReplayOptions extends SourceOverrides {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** The recording: a path or a stream. Default: the journal of this host. */
  readonly file?: string | Readable
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** The labels of the services to read. Default: all configured ones. */
  readonly services?: readonly string[]
  readonly onProgress?: (at: number, entries: number) => void
}

export type ReplayReport = ReplayResult & {
  /** Whether the node's own key is known, so that its own rounds can be identified. */
  readonly knowsOwn: boolean
  /** False if it was interrupted. */
  readonly isWhole: boolean
}

const DEFAULT_SPAN_MS = 24 * 3_600_000

/** Replays past entries through the agent's collectors. Throws a SourceError if they cannot be read. */
export const replay = async (options: ReplayOptions): Promise<ReplayReport> => {
  const { config, services = Object.keys(config.services.units) } = options
  const { signal } = options
  const source = await open(options)
  const ownKey = config.node.publicKey ?? (await savedKey(config.state.directory))
  const result = await replayEntries({ ...options, source, ownKey, services: new Set(services) })
  if (result.entries === 0 && !signal.aborted) {
    throw new SourceError({
      doing: 'replay the journal',
      happened: `there is no entry of the ${source.prefix} units in that time range`,
      advice: 'check --since, --services and, if the prefix is not detected, --prefix',
    })
  }
  return { ...result, knowsOwn: ownKey !== null, isWhole: !signal.aborted }
}

const open = async (options: ReplayOptions): Promise<PastSource> => {
  const { config, clock, path, signal, file, since, until } = options
  const { prefix } = config
  if (file === undefined) {
    const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
    const now = clock.now()
    const range = { since: since ?? now - DEFAULT_SPAN_MS, until: Math.min(until ?? now, now) }
    return openJournal({ exec, path, prefix, ...range }, signal)
  }
  return openFile({
    prefix,
    recording: typeof file === 'string' ? openRecording(file) : { name: 'standard input', bytes: file },
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  })
}

/** The node's key as saved by the agent on this host, if it has found it. */
const savedKey = async (directory: string): Promise<string | null> => {
  const found = await createReadOnlyCheckpoints(directory).open('derived').read()
  if (found.state !== 'saved' || typeof found.value !== 'object' || found.value === null) return null
  return 'key' in found.value && typeof found.value.key === 'string' ? found.value.key : null
}

interface ReplayEntriesOptions {
  readonly config: Config
  readonly source: PastSource
  /** The labels of the services whose journal is read. */
  readonly services: ReadonlySet<string>
  /** The node's public key; null if unknown. */
  readonly ownKey: string | null
  readonly signal: AbortSignal
  /** Called now and then with the current time of the replay and the number of entries read. */
  readonly onProgress?: (at: number, entries: number) => void
}

/** The result of a replay. Times are milliseconds since the epoch. */
interface ReplayResult {
  readonly from: number
  readonly to: number
  /** Entries that collectors read; one that two collectors read counts twice. */
  readonly entries: number
  readonly unreadable: number
  /** Services that rules need and that have no entry. */
  readonly missingServices: readonly string[]
  readonly firings: readonly Firing[]
}

/** Step of the replay; Prometheus evaluates the rules every 15 s. */
const STEP_MS = 5 * second
/** Step without entries: only durations change then, so a minute is precise enough and a gap of days takes seconds. */
const LONG_STEP_MS = minute
const LONG_STEP_AFTER_MS = 15 * minute
/** From this length without any entry, the replay decides whether entries are missing. */
const GAP_MS = 2 * minute

/** Runs the agent's collectors on past entries, and evaluates the alert rules on their samples. */
const replayEntries = async (options: ReplayEntriesOptions): Promise<ReplayResult> => {
  const { config, source, services, signal, onProgress = () => undefined } = options
  const clock = createVirtualClock(source.from)
  const counters = createCounterHistory()
  const serviceRuns = createServiceRuns(clock)
  const evaluator = createRuleEvaluator()
  const journal = createReplayJournal()
  const ending = new AbortController()
  setMaxListeners(100, ending.signal)
  const tracker = createBootTracker({ config, prefix: source.prefix, serviceRuns, evaluator })
  const board = new Board(clock, tracker.notice)
  const collectors = createReplayCollectors({
    ...options,
    ...source,
    clock,
    journal,
    board,
    recorder: counters.recorder,
    serviceRuns,
  })
  const context = { clock, signal: ending.signal }
  const running = collectors.map((collector) => supervise(collector, board, context))
  await settle()
  const listeners = journal.listeners()
  const reader = source.open(listeners.map(({ match }) => match))
  let unreadable = 0
  let known = createSampleIndex([])
  let syncedAt: number | null = null

  const step = async (to: number): Promise<void> => {
    clock.set(to)
    const batches = await reader.readUntil(to)
    for (const { entries } of batches) tracker.add(entries)
    for (const [at, listener] of listeners.entries()) {
      const batch = batches[at]
      if (!batch) continue
      unreadable += batch.unreadable
      listener.receive(batch)
    }
    // First the collectors that read, then those that wake up and derive from them.
    await settle()
    await clock.wake()
    counters.mark(to)
    known = createSampleIndex(board.samples())
    if (known.value('chain_consensus_statesync_active') === 1) syncedAt = to
    evaluator.evaluate({
      at: to,
      known,
      counters,
      syncedAt,
      down: serviceRuns.down(),
      isPartialRestart: serviceRuns.isPartialRestart(),
      bootedAt: tracker.bootedAt(),
      textOf: tracker.textOf,
    })
  }

  /** Whether the entries between two times are missing in the recording. */
  const isGap = async (since: number, until: number): Promise<boolean> => {
    if (!(await reader.hasNoEntries(since, until))) return false
    const block = known.value('chain_ledger_seq_num', { event: 'proposed' })
    const isDown = serviceRuns.down().has('bft')
    const lasted = until - since
    return isRecordingMissing({ lasted, after: await reader.peek(), block, boot: tracker.boot(), isDown })
  }

  let from = source.from
  let checkedUpTo = -Infinity
  let quietSince = source.from
  try {
    while (!signal.aborted) {
      const at = clock.now()
      const goal = (await reader.next()) ?? source.to
      if (goal === null || at >= (source.to ?? Infinity)) break
      const isQuiet = goal - at > GAP_MS && goal > checkedUpTo
      if (isQuiet && (await isGap(at, goal))) {
        // Entries before the first one are not missing: the recording begins there.
        if (tracker.entries() === 0) from = goal
        else {
          const says = `no entries for ${duration(goal - at)}: this time is not evaluated`
          evaluator.reset(at)
          evaluator.addEvent({ severity: 'warning', beganAt: at, endedAt: goal, says })
        }
        clock.set(goal - 1)
      }
      checkedUpTo = goal
      const now = clock.now()
      if (goal <= now + STEP_MS) quietSince = goal
      const isLong = now - quietSince > LONG_STEP_AFTER_MS && goal > now + LONG_STEP_MS
      const until = now + (isLong ? LONG_STEP_MS : STEP_MS)
      await step(Math.min(until, source.to ?? Infinity))
      onProgress(clock.now(), tracker.entries())
    }
  } catch (error) {
    // After an interruption the result covers what was read until then; the caller marks it as incomplete.
    if (!signal.aborted) throw error
  } finally {
    ending.abort()
    await reader.close()
    await Promise.all(running)
  }
  return {
    from,
    to: clock.now(),
    entries: tracker.entries(),
    unreadable,
    missingServices: tracker.missingServices(services),
    firings: evaluator.firings(),
  }
}

interface Gap {
  /** Length of the gap in milliseconds. */
  readonly lasted: number
  /** The first entries after the gap. */
  readonly after: readonly JournalEntry[]
  /** The newest block before the gap. */
  readonly block: number | undefined
  /** The boot ID before the gap. */
  readonly boot: string
  /** Whether consensus was down, so that the other services log nothing. */
  readonly isDown: boolean
}

/**
 * A block logged at least this long after its timestamp, and at least this share of the gap, was fetched by a node that
 * had stalled. The share is needed because ledger-tail begins with blocks of the last minute when it starts.
 */
const LATE_MS = 10 * second
const LATE_SHARE = 0.1
/** Maximum number of blocks missed if the chain itself had stalled. */
const STALLED_CHAIN_BLOCKS = 20

/**
 * Whether a gap of minutes means that entries are missing, rather than that the node logged nothing. A node that
 * stalled resumes with old blocks or with the next one. If the first block is recent and many blocks are missing, the
 * node was running and its entries were not kept.
 */
export const isRecordingMissing = ({ lasted, after, block, boot, isDown }: Gap): boolean => {
  const id = after[0]?.fields['_BOOT_ID']
  if (id !== undefined && boot !== '' && id !== boot) return true
  if (isDown) return false
  for (const { message } of after) {
    const event = parseLine(message)
    if (event?.event !== 'proposed') continue
    const isLate = event.writtenAt - event.blockAt > Math.max(LATE_MS, LATE_SHARE * lasted)
    return !isLate && (block === undefined || Number(event.seqNum) - block > STALLED_CHAIN_BLOCKS)
  }
  return true
}

const parseLine = (message: string | null) => {
  if (message === null || !message.includes('block_ts_ms')) return null
  try {
    return parseLedgerLine(message)
  } catch {
    return null // the collector reports it when it reads the line
  }
}
