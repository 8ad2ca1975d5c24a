import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import type { Recording } from '../../sources/journal-range.ts'
import { savedKey } from '../shared/own-key.ts'
import { openFile, openJournal, type PastSource, type TakenEntries } from './past-source.ts'
import type { SourceContext } from '../../terminal/io.ts'
import { duration } from '../../core/format.ts'
import { setMaxListeners } from 'node:events'
import { Board, type Change } from '../../core/board.ts'
import { createSampleIndex, type Sample } from '../../core/metric.ts'
import { supervise } from '../../core/supervise.ts'
import { day, minute, second } from '../../core/units.ts'
import { createExposition } from '../../exporter/exposition.ts'
import { EVALUATION_INTERVAL } from '../../health/monitor.ts'
import { createFiringLog, type FiringLog } from './firings.ts'
import { isCurrent, journalSamples, withConsensusEvents, selectReplayRules } from './rules.ts'
import { createReplayJournal, createServiceRuns, type ServiceRuns, createReplayCollectors } from './collectors.ts'
import { createVirtualClock, settle } from '../../core/virtual-clock.ts'
import { describeStep } from '../../sources/journal-order.ts'
import type { Labels } from '../../health/promql/series.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'

interface ReplayOptions extends SourceContext {
  readonly config: Config
  /** Replaces the journal of this host. */
  readonly recording: (() => Recording) | undefined
  /** Milliseconds since the epoch. */
  readonly since: number | undefined
  readonly until: number | undefined
  /** The labels of the services to read. */
  readonly services: ReadonlySet<string>
  /** Called now and then with the current time of the replay and the number of entries read. */
  readonly onProgress: (at: number, entries: number) => void
}

/** Replays past entries through the agent's collectors. Throws a SourceError if they cannot be read. */
export const replay = async (options: ReplayOptions) => {
  const { config, signal } = options
  const source = await open(options)
  const ownKey = config.node.publicKey ?? (await savedKey(config.state.directory))
  const result = await replayEntries(options, source, ownKey)
  if (result.entries === 0 && !signal.aborted) {
    throw new SourceError({
      doing: 'replay the journal',
      happened: `there is no entry of the ${source.prefix} units in that time range`,
      advice: 'check --since, --services and, if the prefix is not detected, --prefix',
    })
  }
  return {
    ...result,
    /** Whether the node's own key is known, so that its own rounds can be identified. */
    isOwnKeyKnown: ownKey !== null,
    /** False if it was interrupted. */
    isWhole: !signal.aborted,
  }
}

const open = async (options: ReplayOptions): Promise<PastSource> => {
  const { clock, path, signal, recording, since, until } = options
  const { prefix } = options.config
  if (recording) return openFile({ prefix, recording: recording(), since, until })
  const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
  const now = clock.now()
  const range = { since: since ?? now - day, until: Math.min(until ?? now, now) }
  return openJournal({ exec, path, prefix, ...range }, signal)
}

/** What the clock of the host showed in addition to the time, from a time on. */
interface ClockOffset {
  readonly from: number
  readonly offset: number
}

/** What the clock of the host showed at a time of the replay. */
export const clockTime = (at: number, offsets: readonly ClockOffset[]): number =>
  at + (offsets.findLast(({ from }) => from <= at)?.offset ?? 0)

/** A smaller difference of the clock is not visible in times to the second. */
const LEAST_OFFSET_MS = second / 2

/** From this length without any entry, the replay decides whether entries are missing. */
const GAP_MS = 2 * minute

/**
 * Runs the agent's collectors on past entries, and evaluates the alert rules on their samples. Times of the result are
 * milliseconds since the epoch on a clock that only increases: `clockTime` gives what the clock of the host showed.
 */
const replayEntries = async (options: ReplayOptions, source: PastSource, ownKey: string | null) => {
  const { config, services, signal, onProgress } = options
  const clock = createVirtualClock(source.from)
  const { rules, catalogue, notEvaluated } = selectReplayRules()
  const exposition = createExposition(reportDuplicate, { ownsProcess: false, catalogue })
  /** The time of the replay; the clock shows that of the host, which may go back. */
  const now = (): number => source.from + clock.elapsed()
  const clockOffsets: ClockOffset[] = []
  const serviceRuns = createServiceRuns({ now })
  const firings = createFiringLog(rules)
  const journal = createReplayJournal()
  const ending = new AbortController()
  setMaxListeners(100, ending.signal)
  const units = Object.entries(config.services.units).map(
    ([service, unit]) => [unit.replaceAll('{prefix}', source.prefix), service] as const,
  )
  const tracker = createBootTracker(new Map(units), serviceRuns, firings)
  const board = new Board(clock, tracker.notice)
  const timers = Object.keys(config.services.timers)
  const samples = (): readonly Sample[] => {
    const ofCollectors = board.samples()
    const known = createSampleIndex(ofCollectors)
    return [
      ...ofCollectors.filter(isCurrent(known)),
      ...journalSamples({ known, serviceRuns, timers, bootedAt: tracker.bootedAt() }),
    ]
  }
  const collectors = createReplayCollectors({
    ...source,
    config,
    services,
    ownKey,
    clock,
    journal,
    published: samples,
    recorder: exposition.recorder,
    serviceRuns,
  })
  const context = { clock, signal: ending.signal }
  const running = collectors.map((collector) => supervise(collector, board, context))
  await settle()
  const listeners = journal.listeners()
  const reader = source.open(listeners.map(({ match }) => match))
  let unreadable = 0

  const isConsensusActive = (): boolean => serviceRuns.active().get('bft') ?? true
  const evaluate = async (): Promise<void> => {
    const values = await exposition.values(samples())
    const clockOffset = clock.now() - now()
    firings.evaluate(now(), withConsensusEvents(values, isConsensusActive()), { lineOf: tracker.lineOf, clockOffset })
  }

  const noteClock = ({ steps, offset = 0 }: Pick<TakenEntries, 'steps' | 'offset'>): void => {
    for (const { elapsed: at, step: change, ...placed } of steps) {
      clockOffsets.push({ from: at, offset: placed.offset })
      firings.addEvent({ severity: 'warning', beganAt: at, endedAt: at, summary: describeStep(change) })
    }
    const shown = clockOffsets.at(-1)?.offset ?? 0
    if (Math.abs(offset - shown) >= LEAST_OFFSET_MS) clockOffsets.push({ from: now(), offset })
    clock.setOffset(offset)
  }

  const step = async (to: number): Promise<void> => {
    const { batches, ...taken } = await reader.readUntil(to)
    clock.set(to)
    noteClock(taken)
    for (const { entries } of batches) tracker.add(entries, taken.offset ?? 0)
    for (const [at, listener] of listeners.entries()) {
      const batch = batches[at]
      if (!batch) continue
      unreadable += batch.unreadable
      listener.receive(batch)
    }
    // First the collectors that read, then those that wake up and derive from them.
    await settle()
    await clock.wake()
    await evaluate()
  }

  /** Whether the entries between two times are missing in the recording. */
  const isGap = async (since: number, until: number): Promise<boolean> => {
    const offset = clock.now() - now()
    if (!(await reader.hasNoEntries(since + offset, until + offset))) return false
    const block = createSampleIndex(board.samples()).value('chain_ledger_seq_num', { event: 'proposed' })
    const isDown = !isConsensusActive()
    const lasted = until - since
    return isRecordingMissing({ lasted, after: await reader.peek(), block, boot: tracker.boot(), isDown })
  }

  let from = source.from
  let checkedUpTo = -Infinity
  try {
    // The counters before the first entry: the first increase is counted from there.
    await evaluate()
    while (!signal.aborted) {
      const at = now()
      const next = await reader.next()
      const end = source.to === null ? null : at + source.to - clock.now()
      const goal = next ?? end
      if (goal === null || (next === null && goal <= at)) break
      const isQuiet = goal - at > GAP_MS && goal > checkedUpTo
      if (isQuiet && (await isGap(at, goal))) {
        // Entries before the first one are not missing: the recording begins there.
        if (tracker.entries() === 0) from = goal
        else {
          const summary = `no entries for ${duration(goal - at)}: this time is not evaluated`
          firings.addEvent({ severity: 'warning', beganAt: at, endedAt: goal, summary })
        }
        firings.reset(at)
        clock.set(goal - 1)
        await evaluate()
      }
      checkedUpTo = goal
      await step(Math.min(now() + EVALUATION_INTERVAL, end === null ? Infinity : Math.max(end, goal)))
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
    to: now(),
    clockOffsets,
    /** One that two collectors read counts twice. */
    entries: tracker.entries(),
    unreadable,
    missingServices: tracker.missingServices(services),
    firings: firings.firings(),
    notEvaluated,
    failures: firings.failures(),
  }
}

const reportDuplicate = (message: string): never => {
  throw new Error(`Could not evaluate the rules: ${message}`)
}

/** Tracks what collectors do not: the boots of the host, the services that have entries, and the text of trouble lines. */
const createBootTracker = (services: ReadonlyMap<string, string>, serviceRuns: ServiceRuns, firings: FiringLog) => {
  const withEntries = new Set<string>()
  const boots = new Set<string>()
  const states = new Map<string, string>()
  let boot = ''
  let bootedAt: number | null = null
  let entries = 0

  const noteBoot = (id: string, { at, offset }: { readonly at: number; readonly offset: number }): void => {
    if (boots.has(id)) return
    boots.add(id)
    boot = id
    if (boots.size === 1) return
    bootedAt = at
    serviceRuns.noteReboot()
    const rebootedAt = at - offset
    firings.addEvent({ severity: 'info', beganAt: rebootedAt, endedAt: rebootedAt, summary: 'the host was rebooted' })
  }

  const add = ({ fields, at, unit }: JournalEntry, offset: number): void => {
    entries += 1
    const id = fields['_BOOT_ID']
    if (id !== undefined) noteBoot(id, { at, offset })
    const service = services.get(unit ?? '')
    if (service === undefined) return
    withEntries.add(service)
    const invocation = fields['_SYSTEMD_INVOCATION_ID']
    const isOwn = fields['_SYSTEMD_UNIT'] === unit
    if (isOwn && invocation !== undefined && (id ?? '') === boot) serviceRuns.noteEntry(service, invocation)
  }

  return {
    /** `offset`: what the clock of the host shows in addition to the time of the replay. */
    add: (batch: readonly JournalEntry[], offset: number): void => {
      for (const entry of batch) add(entry, offset)
    },
    entries: () => entries,
    boot: () => boot,
    bootedAt: () => bootedAt,
    missingServices: (wanted: ReadonlySet<string>): readonly string[] =>
      [...wanted].filter((service) => NEEDED.includes(service) && !withEntries.has(service)),
    notice: ({ subject, to }: Change): void => {
      if (subject !== undefined) states.set(subject, to)
    },
    /** The text of the log line that an alert is about; the logs collector keeps that of the most severe ones. */
    lineOf: ({ service, pattern }: Labels): string | undefined =>
      states
        .get(`${service} log`)
        ?.split(/; (?=[a-z_]+(?:: |; |$))/)
        .find((piece) => piece.startsWith(`${pattern}: `))
        ?.slice(`${pattern}: `.length),
  }
}

/** Services whose entries most rules need. */
const NEEDED: readonly string[] = ['bft', 'execution', 'ledger-tail']

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
    const isLate = event.writtenAt - (event.blockAt ?? event.writtenAt) > Math.max(LATE_MS, LATE_SHARE * lasted)
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
