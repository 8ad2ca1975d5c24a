import { duration } from '../../core/format.ts'
import { setMaxListeners } from 'node:events'
import { Board } from '../../core/board.ts'
import { createSampleIndex, type Sample } from '../../core/metric.ts'
import { supervise } from '../../core/supervise.ts'
import { minute, second } from '../../core/units.ts'
import type { Config } from '../../config/schema.ts'
import { createExposition } from '../../exporter/exposition.ts'
import { EVALUATION_INTERVAL } from '../../health/monitor.ts'
import { createFiringLog, type Firing } from './firings.ts'
import { isCurrent, journalSamples, withConsensusEvents } from './journal-samples.ts'
import { selectReplayRules } from './rules.ts'
import { createReplayJournal } from './replay-journal.ts'
import { createServiceRuns } from './service-runs.ts'
import { isRecordingMissing } from './gap-detection.ts'
import type { PastSource } from './past-source.ts'
import { createVirtualClock, settle } from '../../core/virtual-clock.ts'
import { createReplayCollectors } from './collectors.ts'
import type { TakenEntries } from './buffered-entries.ts'
import { describeStep } from '../../sources/journal-order.ts'
import { createBootTracker } from './boot-tracker.ts'

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

/**
 * The result of a replay. Times are milliseconds since the epoch on a clock that only increases: `clockTime` gives what
 * the clock of the host showed.
 */
export interface ReplayResult {
  readonly from: number
  readonly to: number
  /** What the clock of the host showed in addition to the time, from each time on. */
  readonly clockOffsets: readonly ClockOffset[]
  /** Entries that collectors read; one that two collectors read counts twice. */
  readonly entries: number
  readonly unreadable: number
  /** Services that rules need and that have no entry. */
  readonly missingServices: readonly string[]
  readonly firings: readonly Firing[]
  /** The alerts that a journal cannot decide, and what they need. */
  readonly notEvaluated: ReturnType<typeof selectReplayRules>['notEvaluated']
  /** Rules that could not be evaluated, with the reason. */
  readonly failures: readonly string[]
}

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

/** Runs the agent's collectors on past entries, and evaluates the alert rules on their samples. */
export const replayEntries = async (options: ReplayEntriesOptions): Promise<ReplayResult> => {
  const { config, source, services, signal, onProgress = () => undefined } = options
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
  const tracker = createBootTracker({ config, prefix: source.prefix, serviceRuns, firings })
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
    ...options,
    ...source,
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
    return isRecordingMissing({
      lasted,
      after: await reader.peek(),
      block,
      boot: tracker.boot(),
      isDown,
    })
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
