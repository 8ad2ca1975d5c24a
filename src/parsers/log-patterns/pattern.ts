import type { DocumentId } from '../../domain/node-documentation.ts'

/** Severity of a pattern: `critical` needs action at once, `warning` needs a look, `info` needs nothing. */
type Severity = 'critical' | 'warning' | 'info'

/** A service in whose log the pattern can occur. `any`: every program of the node except the cleanup. */
type PatternService = 'bft' | 'execution' | 'rpc' | 'cruft' | 'any'

/** A kind of log line that operators need to know. */
export interface LogPattern {
  /** The value of the `pattern` label. Must not change. */
  readonly name: string
  readonly services: readonly PatternService[]
  /**
   * The beginning of the text after the logger's prefix: a regular expression that JavaScript and PCRE2 interpret in
   * the same way.
   */
  readonly text: string
  /** Whether the line never has a logger prefix: the process that writes it is about to end. */
  readonly isBare?: boolean
  /** Whether the next line of the same process gives the reason. */
  readonly reasonOnNextLine?: boolean
  /** Whether the process that logs the line has ended, or ends because of what the line reports. */
  readonly endsProcess: boolean
  readonly severity: Severity
  /** The address of the alert that it fires, if not ChainLogTrouble. */
  readonly alert?:
    | 'ChainLogTrouble.aborted'
    | 'ChainLogTrouble.others'
    | 'ChainLogTrouble.wal-stopped'
    | 'ChainLogTrouble.timeline-missing'
    | 'ChainCleanup'
  readonly meaning: string
  readonly advice: string
  /** What the advice relies on; required if following it costs data, a key or an hour. */
  readonly documents?: readonly DocumentId[]
}

/**
 * A pattern without what follows: most lines are of consensus, a process ends that writes a line without a prefix, a line
 * of a process that has ended is critical, and any other is a warning.
 */
export type LogPatternRow = Omit<LogPattern, 'services' | 'endsProcess' | 'severity'> &
  Partial<Pick<LogPattern, 'services' | 'endsProcess' | 'severity'>>

export const toPattern = (row: LogPatternRow): LogPattern => {
  const { endsProcess = row.isBare === true } = row
  return { services: ['bft'], endsProcess, severity: endsProcess ? 'critical' : 'warning', ...row }
}
