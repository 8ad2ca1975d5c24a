/** How bad it is: somebody should get up, somebody should look, nobody need do anything. */
export type Severity = 'critical' | 'warning' | 'info'

/** A program whose log it can stand in; `any` is every program of the node, and not the clean-up. */
type Speaker = 'bft' | 'execution' | 'cruft' | 'any'

/** What a line of a log can say that an operator should know. */
export interface LogPattern {
  /** The `pattern` label: stable. */
  readonly name: string
  readonly speakers: readonly Speaker[]
  /**
   * How the text begins, behind what a logger puts before it: a regular expression that JavaScript
   * and PCRE2 read alike.
   */
  readonly text: string
  /** Whether it never comes through a logger: what writes it is about to end. */
  readonly isBare?: boolean
  /** Whether the next line of the same process tells why. */
  readonly tellsNext?: boolean
  readonly severity: Severity
  readonly means: string
  readonly advice: string
}
