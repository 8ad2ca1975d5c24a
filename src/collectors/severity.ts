import type { Change } from '../core/board.ts'
import type { Severity } from '../core/event.ts'
import { FINDINGS } from './consensus/findings.ts'

/** The states of one kind of subject. A state that is neither normal nor critical is a warning. */
interface SubjectRow {
  readonly collector: string
  readonly subject: RegExp
  readonly normal: RegExp
  readonly critical?: RegExp
}

const ANY = /^/
const NONE = /^\b$/

const CRITICAL_FINDINGS = FINDINGS.filter(({ severity }) => severity === 'critical').map(({ finding }) => finding)

/** The first row that matches decides. Every subject that a collector reports has a row. */
const ROWS: readonly SubjectRow[] = [
  { collector: 'consensus', subject: /, unparsed$/, normal: NONE },
  {
    collector: 'consensus',
    subject: /^consensus log$/,
    normal: /^no findings$/,
    critical: new RegExp(String.raw`\b(?:${CRITICAL_FINDINGS.join('|')})\b`),
  },
  {
    collector: 'derived',
    subject: /^blocksync window$/,
    normal: /^open$/,
    critical: /^(?:passed|below 300 )/,
  },
  { collector: 'derived', subject: /^new blocks$/, normal: /^arriving$/, critical: ANY },
  { collector: 'derived', subject: /^database$/, normal: /^below /, critical: ANY },
  { collector: 'derived', subject: /^distance to the network$/, normal: /^at most / },
  { collector: 'derived', subject: /^the node's own metrics$/, normal: /^changing$/ },
  { collector: 'execution', subject: /, unparsed$/, normal: NONE },
  { collector: 'heartbeat', subject: /^heartbeat$/, normal: /^accepted$/ },
  { collector: 'heartbeat', subject: /^health$/, normal: /^(?:healthy|maintenance)$/, critical: /^critical$/ },
  { collector: 'host', subject: /^host, (?:known|not available)$/, normal: ANY },
  { collector: 'host', subject: /^host, clock$/, normal: /^synchronized/ },
  { collector: 'host', subject: /^host, ports$/, normal: /^none exposed$/ },
  { collector: 'host', subject: /^host, frequency governor$/, normal: /^performance$/ },
  {
    collector: 'host',
    subject: /^host, kernel$/,
    normal: /^(?!not known|.*, and )/,
    critical: /, and /,
  },
  {
    collector: 'host',
    subject: /^host, kernel after a reboot$/,
    normal: /^(?!not known|.*, and )/,
  },
  {
    collector: 'host',
    subject: /^host, health of drives$/,
    // Without the report of smartctl, which needs root, the health is unknown.
    normal: /^not known: host\.smartDirectory is not set/,
    critical: /^failing/,
  },
  {
    collector: 'host',
    subject: /^host, file system of /,
    normal: NONE,
    critical: /^less than /,
  },
  {
    collector: 'host',
    subject: /^host, /,
    normal: /^(?!not known|not found|hot: )/,
  },
  { collector: 'keys', subject: /^key files$/, normal: /^all / },
  // An unknown state is reported once, by the row above.
  { collector: 'keys', subject: / backup$/, normal: /^(?:ok|unverified|unknown)\b/ },
  {
    collector: 'keys',
    subject: /^(?:.* keystore|environment file)$/,
    normal: /^(?:ok|unverified|unknown)\b/,
    critical: /^(?:missing|invalid)\b/,
  },
  { collector: 'ledger', subject: /, unparsed$/, normal: NONE },
  // A critical pattern is followed by the text of its line, a warning is its name alone.
  { collector: 'logs', subject: / log$/, normal: /^no failures$/, critical: /: / },
  { collector: 'maintenance', subject: /^maintenance$/, normal: ANY },
  { collector: 'native', subject: /^metrics at /, normal: /^answering$/ },
  { collector: 'native', subject: /^metrics of consensus$/, normal: /^changing$/ },
  { collector: 'native', subject: /, unparsed$/, normal: NONE },
  { collector: 'reference', subject: /^reference /, normal: /^answering$/ },
  { collector: 'rpc', subject: /^node RPC$/, normal: /^answering$/, critical: ANY },
  {
    collector: 'services',
    // The node works without these; a timer starts cruft every hour.
    subject: /^(?:cruft|ledger-tail|otelcol)$/,
    normal: /^(?:active|activating|deactivating|reloading)$| \(not enabled\)$/,
  },
  {
    collector: 'services',
    subject: ANY,
    normal: /^active$|^reloading$| \(not enabled\)$/,
    critical: /^(?:failed|inactive|not found|masked)\b/,
  },
  { collector: 'status', subject: /, unknown keys$/, normal: NONE },
  { collector: 'status', subject: /^reported consensus$/, normal: /^in-sync$/ },
  { collector: 'status', subject: /^reported RPC$/, normal: /^active$/ },
  { collector: 'status', subject: /^reported (?:mode|statesync)$/, normal: ANY },
  { collector: 'storage', subject: /^storage report$/, normal: /^layout \S+$/ },
  {
    collector: 'tokens',
    subject: /^balances of /,
    normal: /^(?:known|the history is being read)$/,
  },
  { collector: 'version', subject: /^(?:installed version|running version|restart)$/, normal: ANY },
  { collector: 'version', subject: /^program /, normal: /^reports its version$/ },
  { collector: 'version', subject: /^package$/, normal: NONE },
  { collector: 'version', subject: ANY, normal: /^(?!not ready )/ },
]

type ChangedState = Pick<Change, 'collector' | 'subject' | 'to'>

/** Whether the table has a row for the subject of a change. */
export const hasSeverity = (change: ChangedState): boolean =>
  change.subject === undefined || rowOf(change) !== undefined

/** Critical or a warning by the state that a subject changes to; a recovery is `info`. */
export const severityOf = (change: ChangedState): Severity => {
  const { subject, to } = change
  if (subject === undefined) return to === 'working' ? 'info' : 'warning'
  const row = rowOf(change)
  if (row === undefined || row.normal.test(to)) return 'info'
  return row.critical?.test(to) ? 'critical' : 'warning'
}

const rowOf = ({ collector, subject = '' }: ChangedState): SubjectRow | undefined =>
  ROWS.find((row) => row.collector === collector && row.subject.test(subject))
