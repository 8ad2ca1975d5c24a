import { FAILURE_KINDS, type Sample, sample, sampleIfKnown } from '../metrics.ts'
import { type Collector, type Report, staleAfter, type Timing } from './collector.ts'
import { type FailureKind, kindOf, summaryOf } from './errors.ts'
import type { Outcome } from './outcome.ts'

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
  /** Undefined until the first attempt has ended. */
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
  readonly #notice: (change: Change) => void

  constructor(notice: (change: Change) => void = () => undefined) {
    this.#notice = notice
  }

  /** Gives a collector its place, and the function it reports through. */
  admit<Reading>(collector: Collector<Reading>): Report<Reading> {
    const { name, help, timing } = collector
    const failures = { source: 0, parse: 0, timeout: 0, internal: 0 }
    const entry: Entry = { name, help, timing, failures, states: new Map() }
    this.#entries.set(name, entry)
    return (outcome) => {
      entry.last = outcome
      if (outcome.ok) {
        const { at, value } = outcome
        // Rendered when somebody looks: a follower may report thousands of times between two scrapes.
        entry.lastSuccess = { at, value, samples: () => collector.samples(value) }
        this.#change(entry, { subject: undefined, to: 'working', at })
        for (const [subject, state] of Object.entries(collector.states(value))) {
          this.#change(entry, { subject, to: state, at })
        }
      } else {
        entry.failures[kindOf(outcome.error)] += 1
        this.#change(entry, {
          subject: undefined,
          to: `failing: ${summaryOf(outcome.error)}`,
          at: outcome.at,
          error: outcome.error,
        })
      }
    }
  }

  /** Remembers a collector that the configuration turns off: off is not broken. */
  dismiss({ name, help }: Pick<Collector<unknown>, 'name' | 'help'>): void {
    this.#disabled.set(name, { help })
  }

  /** Says once that a collector has fallen silent. Staleness has no event of its own; call this now and then. */
  noticeSilence(now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.last?.ok === true && !isFresh(entry, now)) {
        this.#change(entry, {
          subject: undefined,
          to: 'silent: no reading in the time one is due',
          at: now,
        })
      }
    }
  }

  /** Whether every collector has ended its first attempt, well or badly. */
  get settled(): boolean {
    return [...this.#entries.values()].every(({ last }) => last !== undefined)
  }

  *standings(now: number): Generator<Standing> {
    for (const entry of this.#entries.values()) {
      const { name, help, last, lastSuccess } = entry
      yield {
        name,
        help,
        enabled: true,
        up: last && last.ok && isFresh(entry, now),
        lastSuccessAt: lastSuccess?.at,
        error: last?.ok === false ? last.error : undefined,
        reading: isFresh(entry, now) ? lastSuccess?.value : undefined,
      }
    }
    for (const [name, { help }] of this.#disabled) {
      yield {
        name,
        help,
        enabled: false,
        up: undefined,
        lastSuccessAt: undefined,
        error: undefined,
        reading: undefined,
      }
    }
  }

  /** Everything known now. What is stale or was never read is absent, never zero. */
  *samples(now: number): Generator<Sample> {
    for (const collector of this.#disabled.keys()) {
      yield sample('chain_agent_collector_enabled', 0, { collector })
    }
    for (const entry of this.#entries.values()) {
      const { name: collector, last, lastSuccess, failures } = entry
      yield sample('chain_agent_collector_enabled', 1, { collector })
      for (const kind of FAILURE_KINDS) {
        yield sample('chain_agent_collector_failures_total', failures[kind], { collector, kind })
      }
      if (!last) continue
      const fresh = isFresh(entry, now)
      yield sample('chain_agent_collector_up', last.ok && fresh, { collector })
      yield* sampleIfKnown('chain_agent_collector_duration_seconds', seconds(last.took), {
        collector,
      })
      if (!lastSuccess) continue
      yield sample('chain_agent_collector_last_success_timestamp_seconds', lastSuccess.at / 1000, {
        collector,
      })
      if (fresh) yield* lastSuccess.samples()
    }
  }

  #change(entry: Entry, now: Omit<Change, 'collector' | 'from'>): void {
    const from = entry.states.get(now.subject)
    if (from === now.to) return
    entry.states.set(now.subject, now.to)
    this.#notice({ ...now, collector: entry.name, from })
  }
}

const isFresh = ({ timing, lastSuccess }: Entry, now: number): boolean =>
  lastSuccess !== undefined && now - lastSuccess.at <= staleAfter(timing)

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000
