import type { Chain } from '../chain/chain.ts'
import { digest, pick } from '../chain/random.ts'
import type { Heights } from '../heights.ts'
import type { Draft } from '../journal/journal.ts'
import { runEntry } from '../journal/journald.ts'
import { bareDirective, type Directive, type Effect } from '../scenario/directives.ts'
import type { Timeline } from '../scenario/timeline.ts'
import { ONESHOT_MS, oneshotEntries } from './service.ts'

/** The clean-up of old files, which a timer runs each hour. */
export interface Cleanup {
  /** Whether it finds no new file, whatever the node does. */
  readonly skips: boolean
  /** When an operator last started it by hand. */
  readonly ranMs: number | undefined
}

export const usualCleanup: Cleanup = { skips: false, ranMs: undefined }

const changeCleanup =
  (change: (atMs: number) => Partial<Cleanup>): Effect =>
  (condition, atMs) => ({ ...condition, cleanup: { ...condition.cleanup, ...change(atMs) } })

export const cleanupDirectives: readonly Directive[] = [
  bareDirective(
    {
      subject: 'cleanup',
      verb: 'skips',
      meaning: 'the clean-up finds no new file and deletes nothing',
    },
    changeCleanup(() => ({ skips: true })),
  ),
  bareDirective(
    {
      subject: 'cleanup',
      verb: 'works',
      meaning: 'the clean-up deletes files, unless the node was stalled for 20 minutes',
    },
    changeCleanup(() => ({ skips: false })),
  ),
  bareDirective(
    {
      subject: 'cleanup',
      verb: 'runs',
      meaning: 'an operator starts the clean-up, outside of its hour',
    },
    changeCleanup((atMs) => ({ ranMs: atMs })),
  ),
]

interface CleanupSubject {
  readonly node: string
  readonly prefix: string
  readonly chain: Chain
  readonly timeline: Timeline
  readonly heights: Heights
}

const HOUR_MS = 3_600_000
/** The clean-up does nothing if the ledger has no new file for this time. */
const STALE_MS = 20 * 60_000

/** One run of the clean-up, started by its timer or by hand. */
interface CleanupRun {
  readonly startedMs: number
  readonly invocation: string
  readonly pid: number
}

/** The latest run. */
export const lastCleanup = (node: string, nowMs: number, manualMs: number | undefined): CleanupRun => {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS
  return manualMs !== undefined && manualMs > hourMs
    ? runOf(node, manualMs, manualMs)
    : runOf(node, hourMs, hourMs / HOUR_MS)
}

const runOf = (node: string, startedMs: number, number: number): CleanupRun => ({
  startedMs,
  invocation: digest(node, 'invocation', 'cruft', number).slice(0, 32),
  pid: 1200 + pick(28_000, 'pid', 'cruft', number),
})

/** The journal entries of systemd and the script for each run of the clean-up. */
export const createCleanupEntries = ({ node, prefix, chain, timeline, heights }: CleanupSubject) => {
  const unit = `${prefix}-cruft.service`
  const program = 'clear-old-artifacts.sh'
  const manualRuns = timeline.changes.flatMap(({ before, after }) => {
    const { ranMs } = after.cleanup
    return ranMs === undefined || ranMs === before.cleanup.ranMs ? [] : [runOf(node, ranMs, ranMs)]
  })

  const runs = function* (fromMs: number, toMs: number): Generator<CleanupRun> {
    // The hours whose run, which takes ONESHOT_MS, reaches into the time range.
    const firstHour = Math.floor((fromMs - ONESHOT_MS) / HOUR_MS)
    for (let hour = firstHour; hour * HOUR_MS <= toMs; hour += 1) {
      yield runOf(node, hour * HOUR_MS, hour)
    }
    yield* manualRuns
  }

  const textAt = (atMs: number): string => {
    const newest = chain.block(heights.consensus(atMs))
    const isStale = newest !== undefined && atMs - newest.seenMs > STALE_MS
    return timeline.conditionAt(atMs).cleanup.skips || isStale
      ? 'No new files detected. Skipping deletion'
      : 'Cleanup completed successfully'
  }

  return function* (fromMs: number, toMs: number): Generator<Draft> {
    for (const run of runs(fromMs, toMs)) {
      const [begins, ...ends] = oneshotEntries(unit, run.invocation, run.startedMs)
      const atMs = run.startedMs + ONESHOT_MS - 1
      const output = runEntry({ unit, ...run }, { atMs, text: textAt(atMs), program })
      for (const draft of begins ? [begins, output, ...ends] : []) {
        if (draft.atMs > fromMs && draft.atMs <= toMs) yield draft
      }
    }
  }
}
