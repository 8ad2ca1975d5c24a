import { createSavedCounts } from '../../src/collectors/shared/saved-counts.ts'
import { createUnitNames } from '../../src/collectors/shared/node-state.ts'
import type { Collector, Outcome } from '../../src/core/collector.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import type { FollowOptions, Journal, JournalBatch } from '../../src/sources/journal.ts'
import type { VirtualClock } from '../../src/core/virtual-clock.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint, recording } from './recording.ts'
import { execOf, readingOf } from './run-collector.ts'

/** The entries of one batch, an empty batch after N seconds, an empty batch after a gap, or a clock that is set. */
export type Step = readonly JournalEntry[] | { readonly seconds: number } | { readonly clockOffset: number } | 'gap'

interface FollowerRun {
  readonly beginsAt: number
  readonly steps: readonly Step[]
  /** Whether the clock advances with the entries. */
  readonly isTimed?: boolean
  /** How much time passes at the start, in milliseconds. */
  readonly wait?: number
}

const dependenciesOf = (clock: VirtualClock, journal: Journal<JournalEntry>) => {
  const { recorder, total } = recording()
  const exec = execOf(() => Promise.resolve({ exitCode: 0, stdout: '', stderr: '' }))
  const dependencies = {
    journalDependencies: { journal, recorder, counts: createSavedCounts(recorder), checkpoint: memoryCheckpoint() },
    exec,
    clock,
    unitNames: createUnitNames(() => Promise.resolve({ word: 'chain', from: 'configuration' })),
    timing: { interval: 5000, timeout: 10_000 },
  }
  return { dependencies, total }
}

export type FollowerDependencies = ReturnType<typeof dependenciesOf>['dependencies']

/**
 * Runs a collector that follows the journal over these batches, and returns its last reading as samples and states, and the
 * states after each batch.
 */
export const runFollower = async <Reading>(
  create: (dependencies: FollowerDependencies) => Collector<Reading>,
  { beginsAt, steps, isTimed = false, wait = 0 }: FollowerRun,
) => {
  const clock = manualClock(beginsAt)
  const stop = new AbortController()
  const requests: FollowOptions[] = []
  const remaining = [...steps]
  const batch: JournalBatch<JournalEntry> = { entries: [], unreadable: 0, gap: false }
  const journal: Journal<JournalEntry> = {
    async *follow(following) {
      requests.push(following)
      yield batch
      for (let step = remaining.shift(); step !== undefined; step = remaining.shift()) {
        if (step === 'gap') yield { ...batch, gap: true }
        else if ('clockOffset' in step) clock.setOffset(step.clockOffset)
        else if ('seconds' in step) {
          await clock.advance(step.seconds * 1000)
          yield batch
        } else {
          if (isTimed) await clock.advance(Math.max(0, (step.at(-1)?.at ?? 0) - clock.now()))
          yield { ...batch, entries: step }
        }
        // Requests that were started next to the follower may end.
        await clock.advance(0)
      }
      stop.abort()
    },
  }
  const { dependencies, total } = dependenciesOf(clock, journal)
  const collector = create(dependencies)
  const outcomes: Outcome<Reading>[] = []
  const running = collector.run({ clock, signal: stop.signal }, (outcome) => outcomes.push(outcome))
  if (wait > 0) await clock.advance(wait)
  await running
  const reading = readingOf(outcomes.at(-1))
  const samples = Object.fromEntries(
    collector.samples(reading).map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(' '), value]),
  )
  const history = outcomes.map((outcome) => collector.states(readingOf(outcome)))
  return { requests, samples, states: collector.states(reading), history, total }
}
