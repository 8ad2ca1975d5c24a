import type { NodeSnapshot } from './snapshot.ts'

/** `critical`: the node does not do its work, or will not soon. `unknown`: whether it does cannot be determined. */
export type Severity = 'critical' | 'unknown' | 'warning' | 'info'

/** A problem or notable state of the node, with the evidence for it and what to do. */
export interface Finding {
  /** The alert for the same condition, which has a runbook; without one, words that begin with a small letter. */
  readonly name: string
  readonly severity: Severity
  /** One sentence without its full stop. The worst finding's sentence is that of the health verdict. */
  readonly says: string
  /** The evidence, one fact each. */
  readonly evidence: readonly string[]
  /** What to do, one step each; commands are between backticks. */
  readonly advice: readonly string[]
  /** A maintenance window explains findings about the node's work, but not those about keys and open ports. */
  readonly subject: 'work' | 'security'
}

/** The part of a snapshot that health is evaluated from; the rest is only for display. */
export type HealthInput = Pick<NodeSnapshot, 'at' | 'prefix' | 'known' | 'collectors' | 'readings'>

/** Checks one aspect. An unknown value is no finding: the collector that failed has a finding of its own. */
export type Check = (input: HealthInput) => readonly Finding[]

type FindingDetails = Partial<Pick<Finding, 'evidence' | 'advice' | 'subject'>>

/** Creates a finding, by default about the node's work. */
export const finding = (
  name: string,
  { severity, says }: { readonly severity: Severity; readonly says: string },
  details: FindingDetails = {},
): Finding => ({ name, severity, says, evidence: [], advice: [], subject: 'work', ...details })
