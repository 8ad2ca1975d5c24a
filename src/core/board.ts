import { asError, isInternal, SourceError, summaryOf } from './errors.ts'
import { type Sample, sample, sampleIfKnown } from './metric.ts'
import type { Clock } from './clock.ts'
import { type Collector, type Outcome, type Report, staleAfter, type Timing } from './collector.ts'
import { redact } from './redaction/redact.ts'
import { inSeconds } from './units.ts'

/** A state change: one line in the log. */
export interface Change {
  readonly at: number
  readonly collector: string
  /** The subject within the collector; undefined for the collector itself. */
  readonly subject: string | undefined
  /** Undefined for the first observation. */
  readonly from: string | undefined
  readonly to: string
  readonly error?: Error
  /** Whether the collector reports the state as a problem. */
  readonly isWarning?: boolean
}

interface Entry {
  readonly name: string
  readonly help: string
  readonly timing: Timing
  readonly failures: { count: number }
  /** The last states, of the collector itself (undefined) and of its subjects. */
  readonly states: Map<string | undefined, string>
  /** When the next reading is due, on the monotonic clock. */
  due: number
  last?: Outcome<unknown>
  lastSuccess?: {
    readonly at: number
    readonly value: unknown
    readonly samples: () => readonly Sample[]
  }
}

export interface CollectorStatus {
  readonly name: string
  readonly help: string
  readonly enabled: boolean
  /** Null until the first attempt has ended or is overdue. */
  readonly up: boolean | null
  /** Milliseconds since the epoch; null for never. */
  readonly lastSuccessAt: number | null
  /** The error of the last attempt; null if it succeeded. */
  readonly error: CollectorError | null
  /** Undefined if there was none yet, and if the last one is stale. */
  readonly reading: unknown
}

export type CollectorError = ReturnType<typeof collectorError>

/** The parts of an error of a collector, redacted; the code is that of a SourceError. */
export const collectorError = (
  error: Error,
): Readonly<Record<'message', string> & Record<'code' | 'advice', string | null>> => {
  const { code = null, advice } = error instanceof SourceError ? error : {}
  return { message: redact(error.message), code, advice: advice === undefined ? null : redact(advice) }
}

/** The last result of every collector. Collectors write it; the exporter, the CLI and the status page read it. */
export class Board {
  readonly #entries = new Map<string, Entry>()
  readonly #disabled = new Map<string, { readonly help: string }>()
  #internalFailures = 0
  readonly #clock: Clock
  readonly #notice: (change: Change) => void

  constructor(clock: Clock, notice: (change: Change) => void = () => undefined) {
    this.#clock = clock
    this.#notice = notice
  }

  /**
   * Registers a collector and returns the function through which it reports. A collector that is restarted with other
   * settings keeps its failure counters and known states, but not its readings.
   */
  register<Reading>(collector: Collector<Reading>): Report<Reading> {
    const { name, help, timing } = collector
    const before = this.#entries.get(name)
    const failures = before?.failures ?? { count: 0 }
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
      // Computed when requested, and once: a follower may report thousands of times between two scrapes.
      let samples: readonly Sample[] | undefined
      entry.lastSuccess = { at, value, samples: () => (samples ??= collector.samples(value)) }
      this.#change(entry, { subject: undefined, to: 'working', at })
      const warnings = collector.warnings?.(value) ?? []
      for (const [subject, state] of Object.entries(collector.states(value))) {
        this.#change(entry, { subject, to: state, at, isWarning: warnings.includes(subject) })
      }
    }
  }

  /** Marks a collector as disabled by the configuration, which is different from failing. */
  disable({ name, help }: Pick<Collector<unknown>, 'name' | 'help'>): void {
    this.#entries.delete(name)
    this.#disabled.set(name, { help })
  }

  /** Reports once that a collector is silent. Silence causes no event, so this must be called periodically. */
  checkStaleness(): void {
    for (const entry of this.#entries.values()) {
      if (entry.last?.ok === false || !this.#isLate(entry)) continue
      const to = 'silent: no reading in the time one is due'
      this.#change(entry, { subject: undefined, to, at: this.#clock.now() })
    }
  }

  *statuses(): Generator<CollectorStatus> {
    for (const entry of this.#entries.values()) {
      const { name, help, last, lastSuccess } = entry
      yield {
        name,
        help,
        enabled: true,
        up: this.#isUp(entry),
        lastSuccessAt: lastSuccess?.at ?? null,
        error: last?.ok === false ? collectorError(last.error) : null,
        reading: this.#isLate(entry) ? undefined : lastSuccess?.value,
      }
    }
    for (const [name, { help }] of this.#disabled) {
      yield { name, help, enabled: false, up: null, lastSuccessAt: null, error: null, reading: undefined }
    }
  }

  /** All current samples. Stale or unknown values are absent, never zero. */
  samples(): readonly Sample[] {
    const samples = [sample('chain_agent_internal_failures_total', this.#internalFailures)]
    for (const entry of this.#entries.values()) {
      const { name: collector, last, lastSuccess, failures } = entry
      const lastSuccessAt = inSeconds(lastSuccess?.at)
      samples.push(
        ...this.#samplesOf(entry),
        sample('chain_agent_collector_failures_total', failures.count, { collector }),
        ...sampleIfKnown('chain_agent_collector_up', this.#isUp(entry), { collector }),
        ...sampleIfKnown('chain_agent_collector_duration_seconds', inSeconds(last?.took), { collector }),
        ...sampleIfKnown('chain_agent_collector_last_success_timestamp_seconds', lastSuccessAt, { collector }),
      )
    }
    return samples
  }

  /** A bug in one collector must not remove the others' readings. */
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

  /** On a monotonic clock: setting the host's clock back must not make old readings fresh. */
  #isLate({ due }: Entry): boolean {
    return this.#clock.elapsed() > due
  }

  #isUp(entry: Entry): boolean | null {
    const isLate = this.#isLate(entry)
    return entry.last ? entry.last.ok && !isLate : isLate ? false : null
  }

  #fail(entry: Entry, { error, at }: { readonly error: Error; readonly at: number }): void {
    entry.failures.count += 1
    if (isInternal(error)) this.#internalFailures += 1
    this.#change(entry, { subject: undefined, to: `failing: ${summaryOf(error)}`, at, error })
  }

  #change(entry: Entry, now: Omit<Change, 'collector' | 'from'>): void {
    const from = entry.states.get(now.subject)
    if (from === now.to) return
    entry.states.set(now.subject, now.to)
    this.#notice({ ...now, collector: entry.name, from })
  }
}
