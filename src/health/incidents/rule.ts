import type { SampleIndex } from '../../core/metric.ts'
import { renderDuration } from '../../core/units.ts'
import type { CounterHistory } from './counter-history.ts'

/** Severities of alerts, most severe first. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** All that a recording shows of the node at one time. */
export interface RuleInput {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Samples of the collectors. */
  readonly known: SampleIndex
  readonly counters: CounterHistory
  /** Services that have ended and not started since, with how they ended. */
  readonly down: ReadonlyMap<string, string>
  readonly isPartialRestart: boolean
  /** When statesync was last active; null for never. */
  readonly syncedAt: number | null
  /** When the host last booted; null if the recording has no boot. */
  readonly bootedAt: number | null
  /** The text of a trouble line, if the collector kept it. */
  textOf(service: string, pattern: string): string | undefined
}

/** A condition that is true at one time. */
interface RuleMatch {
  /** The label value that tells several matches of a rule apart; empty if there is only one. */
  readonly subject: string
  /** How bad it is: a firing has the message of its worst time. */
  readonly value: number
  readonly says: string
}

/** An alert that can be evaluated from the journal alone, with the numbers of its rule. */
export interface JournalRule {
  readonly alert: string
  readonly severity: Severity
  /** `for` and `keep_firing_for` of the rule, in milliseconds. */
  readonly for?: number
  readonly keep?: number
  /** Comparisons, windows and label values, written as in the expression of the rule; a test compares them. */
  readonly figures: readonly string[]
  find(input: RuleInput): readonly RuleMatch[]
}

/** One match if the condition holds. */
export const matchIf = (holds: boolean, value: number, says: () => string): readonly RuleMatch[] =>
  holds ? [{ subject: '', value, says: says() }] : []

/** A window in milliseconds as written in PromQL: `[5m]`. */
export const windowOf = (milliseconds: number): string => `[${renderDuration(milliseconds)}]`

export const times = (count: number): string => (count <= 1 ? 'once' : count === 2 ? 'twice' : `${count} times`)

/** A ratio as a rounded percentage. */
export const percent = (share: number): string => `${Math.round(share * 100)} %`
