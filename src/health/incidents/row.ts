import type { SampleIndex } from '../../core/sample-index.ts'
import { renderDuration } from '../../core/units.ts'
import type { Tallies } from './tallies.ts'

/** How bad an alert is, worst first. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** All that a recording tells of one moment. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What the collectors have published. */
  readonly known: SampleIndex
  readonly tallies: Tallies
  /** Services that have ended and did not start since, with how they ended. */
  readonly down: ReadonlyMap<string, string>
  readonly isPartialRestart: boolean
  /** When statesync was last seen to be under way; null where it was not. */
  readonly syncedAt: number | null
  /** When the host was last seen to start; null where it was not. */
  readonly bootedAt: number | null
  /** What a line of trouble said, where its text is kept. */
  said(service: string, pattern: string): string | undefined
}

/** Something that holds at a moment. */
interface Found {
  /** Which of several things it holds for; empty where there is but one. */
  readonly subject: string
  /** How bad it is: of a time that it holds, the worst moment is told. */
  readonly value: number
  readonly says: string
}

/** An alert that the journal alone can decide, with the figures of its rule. */
export interface AlertRow {
  readonly alert: string
  readonly severity: Severity
  /** How long it must hold, and how long it goes on firing after it held, in milliseconds. */
  readonly for?: number
  readonly keep?: number
  /** Its figures as they stand in the rule's expression. */
  readonly figures: readonly string[]
  find(moment: Moment): readonly Found[]
}

/** One thing, where it holds. */
export const foundIf = (holds: boolean, value: number, says: () => string): readonly Found[] =>
  holds ? [{ subject: '', value, says: says() }] : []

/** A window as it stands in an expression. */
export const windowOf = (milliseconds: number): string => `[${renderDuration(milliseconds)}]`

export const times = (count: number): string =>
  count <= 1 ? 'once' : count === 2 ? 'twice' : `${count} times`

export const percent = (share: number): string => `${Math.round(share * 100)} %`
