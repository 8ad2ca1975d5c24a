import { FAILURE_KINDS, type FailureKind, kindOf, summaryOf } from './errors.ts'
import { type Sample, sample, sampleIfKnown } from './metric.ts'
import type { Clock } from './clock.ts'
import { type Collector, type Report, staleAfter, type Timing } from './collector.ts'
import { asError, type Outcome } from './outcome.ts'

/** Something that is different now from what it was: one line in the log. */
export interface Change {
  readonly at: number
  readonly collector: string
  /** Which of the subjects that it watches; undefined when the collector itself changed. */
  readonly subject: string | undefined
  /** Undefined at first sight. */
  readonly from: string | undefined
  readonly to: string
  /** The whole error where the change is a failure. */
  readonly error?: Error
}

interface Entry {
  readonly name: string
  readonly help: string
  readonly timing: Timing
  readonly failures: Record<FailureKind, number>
  /** What was last said of the collector itself (undefined) and of its subjects. */
  readonly states: Map<string | undefined, string>
  /** By the clock that never goes back: until when we wait for the next reading. */
  due: number
  last?: Outcome<unknown>
  lastSuccess?: {
    readonly at: number
    readonly value: unknown
    readonly samples: () => readonly Sample[]
  }
}

/** What is known of one collector, for those who look. */
export interface Standing {
  readonly name: string
  readonly help: string
  readonly enabled: boolean
  /** Undefined until the first attempt has ended, or should have. */
  readonly up: boolean | undefined
  readonly lastSuccessAt: number | undefined
  /** Of the last attempt, where that failed. */
  readonly error: Error | undefined
  /** The last reading, where it is fresh. */
  readonly reading: unknown
}

/** What every collector last said. Collectors write it; the exporter, the CLI and the page read it. */
export class Board {
  readonly #entries = new Map<string, Entry>()
  readonly #disabled = new Map<string, { readonly help: string }>()
  readonly #clock: Clock
  readonly #notice: (change: Change) => void

  constructor(clock: Clock, notice: (change: Change) => void = () => undefined) {
    this.#clock = clock
    this.#notice = notice
  }

  /**
   * Gives a collector its place, and the function it reports through. A collector that is started again
   * with other settings keeps its failure counters and known states; its readings are gone.
   */
  admit<Reading>(collector: Collector<Reading>): Report<Reading> {
    const { name, help, timing } = collector
    const before = this.#entries.get(name)
    const failures = before?.failures ?? { source: 0, parse: 0, timeout: 0, internal: 0 }
    const states = before?.states ?? new Map<string | undefined, string>()
    const nextDue = (): number => this.#clock.elapsed() + staleAfter(timing)
    const entry: Entry = { name, help, timing, failures, states, due: nextDue() }
    this.#disabled.delete(name)
    this.#entries.set(name, entry)
    return (outcome) => {
      entry.last = outcome
      if (!outcome.ok) {
        this.#fail(entry, outcome)
        return
      }
      const { at, value } = outcome
      entry.due = nextDue()
      // Rendered when somebody looks: a follower may report thousands of times between two scrapes.
      entry.lastSuccess = { at, value, samples: () => collector.samples(value) }
      this.#change(entry, { subject: undefined, to: 'working', at })
      for (const [subject, state] of Object.entries(collector.states(value))) {
        this.#change(entry, { subject, to: state, at })
      }
    }
  }

  /** Remembers a collector that the configuration turns off: off is not broken. */
  dismiss({ name, help }: Pick<Collector<unknown>, 'name' | 'help'>): void {
    this.#entries.delete(name)
    this.#disabled.set(name, { help })
  }

  /** Says once that a collector is silent. Silence has no event of its own; call this now and then. */
  noticeSilence(): void {
    for (const entry of this.#entries.values()) {
      if (entry.last?.ok === false || !this.#isLate(entry)) continue
      const to = 'silent: no reading in the time one is due'
      this.#change(entry, { subject: undefined, to, at: this.#clock.now() })
    }
  }

  *standings(): Generator<Standing> {
    for (const entry of this.#entries.values()) {
      const { name, help, last, lastSuccess } = entry
      yield {
        name,
        help,
        enabled: true,
        up: this.#isUp(entry),
        lastSuccessAt: lastSuccess?.at,
        error: last?.ok === false ? last.error : undefined,
        reading: this.#isLate(entry) ? undefined : lastSuccess?.value,
      }
    }
    for (const [name, { help }] of this.#disabled) {
      const nothing = { up: undefined, lastSuccessAt: undefined, error: undefined }
      yield { name, help, enabled: false, ...nothing, reading: undefined }
    }
  }

  /** Everything known now. What is stale or was never read is absent, never zero. */
  *samples(): Generator<Sample> {
    for (const collector of this.#disabled.keys()) {
      yield sample('chain_agent_collector_enabled', 0, { collector })
    }
    for (const entry of this.#entries.values()) {
      const { name: collector, last, lastSuccess, failures } = entry
      yield sample('chain_agent_collector_enabled', 1, { collector })
      yield* this.#samplesOf(entry)
      for (const kind of FAILURE_KINDS) {
        yield sample('chain_agent_collector_failures_total', failures[kind], { collector, kind })
      }
      yield* sampleIfKnown('chain_agent_collector_up', this.#isUp(entry), { collector })
      yield* sampleIfKnown('chain_agent_collector_duration_seconds', inSeconds(last?.took), {
        collector,
      })
      yield* sampleIfKnown(
        'chain_agent_collector_last_success_timestamp_seconds',
        inSeconds(lastSuccess?.at),
        { collector },
      )
    }
  }

  /** One collector with a bug must not take the others' readings along. */
  #samplesOf(entry: Entry): readonly Sample[] {
    if (this.#isLate(entry)) return []
    try {
      return entry.lastSuccess?.samples() ?? []
    } catch (error) {
      entry.last = { ok: false, error: asError(error), at: this.#clock.now() }
      this.#fail(entry, entry.last)
      return []
    }
  }

  /** By a clock that never goes back: a host whose time is set back must not make old readings fresh. */
  #isLate({ due }: Entry): boolean {
    return this.#clock.elapsed() > due
  }

  #isUp(entry: Entry): boolean | undefined {
    const isLate = this.#isLate(entry)
    return entry.last ? entry.last.ok && !isLate : isLate ? false : undefined
  }

  #fail(entry: Entry, { error, at }: { readonly error: Error; readonly at: number }): void {
    entry.failures[kindOf(error)] += 1
    this.#change(entry, { subject: undefined, to: `failing: ${summaryOf(error)}`, at, error })
  }

  #change(entry: Entry, now: Omit<Change, 'collector' | 'from'>): void {
    const from = entry.states.get(now.subject)
    if (from === now.to) return
    entry.states.set(now.subject, now.to)
    this.#notice({ ...now, collector: entry.name, from })
  }
}

const inSeconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000
