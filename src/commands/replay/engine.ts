import { duration } from '../../core/format.ts'
import { setMaxListeners } from 'node:events'
import { Board } from '../../core/board.ts'
import { createSampleIndex } from '../../core/sample-index.ts'
import { supervise } from '../../core/supervise.ts'
import { minute, second } from '../../core/units.ts'
import type { Config } from '../../config/schema.ts'
import { createJudge, type Firing } from '../../health/incidents/judge.ts'
import { createTallies } from '../../health/incidents/tallies.ts'
import { createFedJournal } from './fed-journal.ts'
import { createRunning } from './running.ts'
import { isMissing } from './silence.ts'
import type { PastSource } from './source.ts'
import { createVirtualClock } from './virtual-clock.ts'
import { createWatchers } from './watchers.ts'
import { createWitness } from './witness.ts'

interface Options {
  readonly config: Config
  readonly source: PastSource
  /** The labels of the services whose journal is looked at. */
  readonly services: ReadonlySet<string>
  /** The node's public key, where it is known. */
  readonly ownKey: string | null
  readonly signal: AbortSignal
  /** Hears now and then which moment is reached, and how many entries have been read. */
  readonly onProgress?: (at: number, entries: number) => void
}

/** What was found in a stretch of the past. Times are milliseconds since the epoch. */
export interface Relived {
  readonly from: number
  readonly to: number
  /** Those that collectors looked at; one that two of them heard is two. */
  readonly entries: number
  readonly unreadable: number
  /** Services that were looked for, and of which there is no entry. */
  readonly unheard: readonly string[]
  readonly firings: readonly Firing[]
}

/** How far the time goes at once: Prometheus looks at the rules every 15 seconds. */
const STEP_MS = 5 * second
/** In a long silence only durations grow: a minute is exact enough there, and a gap of days takes seconds. */
const LONG_STEP_MS = minute
const LONG_SILENCE_MS = 15 * minute
/** Silence of all that is recorded for so long is looked into: was there nothing to say, or is it missing? */
const SILENCE_MS = 2 * minute

/** Lets the agent's collectors live through the past once more, and judges what they found as the alert rules do. */
export const relive = async (options: Options): Promise<Relived> => {
  const { config, source, services, signal, onProgress = () => undefined } = options
  const clock = createVirtualClock(source.from)
  const tallies = createTallies()
  const running = createRunning(clock)
  const judge = createJudge()
  const journal = createFedJournal()
  const ending = new AbortController()
  setMaxListeners(100, ending.signal)
  const witness = createWitness({ config, prefix: source.prefix, running, judge })
  const board = new Board(clock, witness.notice)
  const watchers = createWatchers({
    ...options,
    ...source,
    clock,
    journal,
    board,
    recorder: tallies.recorder,
    running,
  })
  const context = { clock, signal: ending.signal }
  const lives = watchers.map((collector) => supervise(collector, board, context))
  await clock.settle()
  const listeners = journal.listeners()
  const ears = source.listen(listeners.map(({ match }) => match))
  let unreadable = 0
  let known = createSampleIndex([])
  let syncedAt: number | null = null

  const step = async (to: number): Promise<void> => {
    clock.set(to)
    const heard = await ears.hear(to)
    for (const { entries } of heard) witness.saw(entries)
    for (const [at, listener] of listeners.entries()) {
      const batch = heard[at]
      if (!batch) continue
      unreadable += batch.unreadable
      listener.hear(batch)
    }
    // First those that read, then whoever wakes to think about them.
    await clock.settle()
    await clock.wake()
    tallies.mark(to)
    known = createSampleIndex(board.samples())
    if (known.value('chain_consensus_statesync_active') === 1) syncedAt = to
    judge.judge({
      at: to,
      known,
      tallies,
      syncedAt,
      down: running.down(),
      isPartialRestart: running.isPartialRestart(),
      bootedAt: witness.bootedAt(),
      said: witness.said,
    })
  }

  /** Whether nothing is known of the time until then, because it was not recorded. */
  const isLost = async (since: number, until: number): Promise<boolean> => {
    if (!(await ears.isBlank(since, until))) return false
    const block = known.value('chain_ledger_seq_num', { event: 'proposed' })
    const isDown = running.down().has('bft')
    const lasted = until - since
    return isMissing({ lasted, after: await ears.peek(), block, boot: witness.boot(), isDown })
  }

  let from = source.from
  let lookedUpTo = -Infinity
  let silentSince = source.from
  try {
    while (!signal.aborted) {
      const at = clock.now()
      const goal = (await ears.next()) ?? source.to
      if (goal === null || at >= (source.to ?? Infinity)) break
      const isSilent = goal - at > SILENCE_MS && goal > lookedUpTo
      if (isSilent && (await isLost(at, goal))) {
        // What lies before the first entry is not missing: the recording begins there.
        if (witness.entries() === 0) from = goal
        else {
          const says = `nothing is recorded for ${duration(goal - at)}: of this time nothing is judged`
          judge.lose(at)
          judge.note({ severity: 'warning', beganAt: at, endedAt: goal, says })
        }
        clock.set(goal - 1)
      }
      lookedUpTo = goal
      const now = clock.now()
      if (goal <= now + STEP_MS) silentSince = goal
      const isLong = now - silentSince > LONG_SILENCE_MS && goal > now + LONG_STEP_MS
      const until = now + (isLong ? LONG_STEP_MS : STEP_MS)
      await step(Math.min(until, source.to ?? Infinity))
      onProgress(clock.now(), witness.entries())
    }
  } catch (error) {
    // What was read until the reader was stopped can be told; that it is not all is told with it.
    if (!signal.aborted) throw error
  } finally {
    ending.abort()
    await ears.close()
    await Promise.all(lives)
  }
  return {
    from,
    to: clock.now(),
    entries: witness.entries(),
    unreadable,
    unheard: witness.unheard(services),
    firings: judge.firings(),
  }
}
