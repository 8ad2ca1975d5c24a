import type { Picture } from './picture.ts'

/** `critical`: the node does not do its work, or will not soon. `unknown`: whether it does cannot be told. */
export type Severity = 'critical' | 'unknown' | 'warning' | 'info'

/** Something about the node that an operator wants to know, with what shows it and what to do. */
export interface Finding {
  /** The alert that says the same, which has a runbook; where there is none, words that begin with a small letter. */
  readonly name: string
  readonly severity: Severity
  /** One sentence without its full stop: the verdict, where this is the worst. */
  readonly says: string
  /** What shows it, a fact each. */
  readonly evidence: readonly string[]
  /** What to do, a step each; commands stand between backticks. */
  readonly advice: readonly string[]
  /** Maintenance explains trouble with the node's work; keys and open ports it does not. */
  readonly subject: 'work' | 'security'
}

/** What a check is told: the picture, without what only a display needs. */
export type Evidence = Pick<Picture, 'at' | 'prefix' | 'known' | 'collectors'>

/** Looks at one matter. What is unknown is no finding: whoever could not tell has a finding of its own. */
export type Check = (evidence: Evidence) => readonly Finding[]
