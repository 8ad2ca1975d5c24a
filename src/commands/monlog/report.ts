import { ParseError, SourceError } from '../../core/errors.ts'
import { figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { shortDuration } from '../../health/format.ts'
import { above, LIMITS } from '../../health/limits.ts'
import { recordOf } from '../../collectors/consensus/kinds.ts'
import { notPermitted } from '../../sources/journal-errors.ts'
import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import { type Folded, iso, type Minute, type TimeRange } from './fold.ts'
import type { JournalContext } from './monlog.ts'
import { FINDINGS, hasManyTimeouts } from '../../collectors/consensus/findings.ts'

interface ReportParts extends JournalContext {
  readonly source: 'journal' | 'file'
  /** Unit of the consensus service; null if unknown. */
  readonly unit: string | null
  /** Package line of dpkg; null if unknown. */
  readonly package: string | null
  /** Why the log could not be read. */
  readonly problem: Problem | null
  readonly range: TimeRange
  /** Nothing before this time was read, in milliseconds since the epoch. */
  readonly readFrom?: number | undefined
  /** The node's own public key; null where it is not configured. */
  readonly ownKey: string | null
  readonly folded: Folded
}

/**
 * The analysis of a range of the consensus log: the counts are of the whole range, everything else is about its newest
 * minute. Null is unknown. It does not depend on the current time.
 */
export type MonlogReport = ReportFacts & { readonly verdict: MonlogHealthVerdict }

export const reportOf = (parts: ReportParts): MonlogReport => {
  const report = factsOf(parts)
  return { verdict: healthVerdictOf(report), ...report }
}

type ReportFacts = ReturnType<typeof factsOf>

const factsOf = (parts: ReportParts) => {
  const { range, folded, newest, unreadable, readFrom = range.from, ownKey, ...facts } = parts
  const { minutes, extraFacts, hasSpoken } = folded
  const found = minutes[0]?.found
  const sum = (valueOf: (at: number) => number | null): number | null => {
    const values = minutes.map((_, at) => valueOf(at))
    return values.length < range.minutes ? null : total(values)
  }
  return {
    ...facts,
    window: {
      from: iso(range.from),
      to: iso(range.to),
      minutes: range.minutes,
      /** Whether the log covers all of it. */
      isCovered: minutes.length === range.minutes && minutes.every((one) => one.found.isCovered),
      /** Lines about consensus. */
      lines: count(minutes, ({ debug_line: debug, other_line: other, panic }) => debug + other + panic),
      /** Messages that journald reported as dropped. */
      dropped: count(minutes, ({ suppressed }) => suppressed),
      unreadable,
    },
    /** Whether the service itself logged anything in the range. */
    hasSpoken,
    statesync: found?.statesyncActive ?? null,
    blocksync: found?.blocksyncActive ?? null,
    round: found?.round ?? null,
    epoch: found?.epoch ?? null,
    block: found?.block ?? null,
    // A service that logs nothing may still commit.
    committing: hasSpoken ? (found?.committing ?? null) : null,
    messages: recordOf(CONSENSUS_KINDS, (kind) => sum((at) => minutes[at]?.found.messages[kind] ?? null)),
    networkErrors: {
      /** The span of the counts, as text: the five minutes before the end, or the part of them that was read. */
      within: networkSpan(range.to, readFrom),
      count: found?.networkErrors ?? 0,
      peers: found?.networkErrorPeers ?? null,
    },
    gaveUpOn: extraFacts.gaveUpOn,
    group: extraFacts.group,
    committedBefore: extraFacts.committedBefore,
    /** The first line that looks like a consensus line and could not be parsed. */
    unparsed: found?.unparsed ?? null,
    findings: hasSpoken ? findingsOf({ minutes, readFrom, ownKey }) : [],
    /** The newest lines of the unit, in the range or before it. */
    newest: newest.map(({ at, message }) => ({ at: new Date(at).toISOString(), text: message ?? '' })),
  }
}

const total = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((all, value) => (all === null || value === null ? null : all + value), 0)

const count = (
  minutes: Folded['minutes'],
  valueOf: (seen: Folded['minutes'][number]['found']['seen']) => number,
): number => minutes.reduce((all, { found }) => all + valueOf(found.seen), 0)

interface MonlogHealthVerdict {
  readonly word: 'OK' | 'WARNING' | 'CRITICAL' | 'UNKNOWN'
  /** The reason for the status, with its full stop. */
  readonly sentence: string
  /** 0: blocks are committed; 1: something needs attention; 2: they are not, or that is unknown. */
  readonly exitCode: 0 | 1 | 2
}

const HEALTHY = 'blocks are processed and committed'

/** The health verdict of the newest minute; an otherwise healthy log mentions problems of earlier minutes. */
const healthVerdictOf = (report: ReportFacts): MonlogHealthVerdict => {
  const { findings, problem, hasSpoken, committing, statesync } = report
  const now = findings.filter(({ isPresent }) => isPresent)
  const critical = now.find(({ severity }) => severity === 'critical')
  const warning = now.find(({ severity }) => severity === 'warning')
  const syncing = now.find(({ name }) => name === 'statesync_active')
  const before = findings.find(({ isPresent, severity }) => !isPresent && severity !== 'info')
  if (problem) return unknown(problem.says)
  if (!hasSpoken) return unknown(noEntries(report))
  if (critical) return { word: 'CRITICAL', sentence: lowerFirst(critical.text), exitCode: 2 }
  // A node in statesync commits nothing and answers no requests.
  if (statesync === true && committing !== true && syncing) return warn(lowerFirst(syncing.text))
  // The window covers a minute: a node that stopped 30 s ago still has commits in it.
  const stalled = above(report.committedBefore ?? undefined, LIMITS.blockAge)
  if (stalled) {
    const sentence = `no block was committed for ${shortDuration((report.committedBefore ?? 0) * second)}.`
    return stalled === 'critical'
      ? { word: 'CRITICAL', sentence, exitCode: 2 }
      : { word: 'WARNING', sentence, exitCode: 1 }
  }
  if (committing === null) return unknown(`whether blocks are committed is unknown: ${why(report)}`)
  if (warning) return warn(lowerFirst(warning.text))
  if (before) return warn(`${HEALTHY}; before ${before.lastAt}: ${lowerFirst(before.text)}`)
  return { word: 'OK', sentence: `${HEALTHY}.`, exitCode: 0 }
}

const unknown = (says: string): MonlogHealthVerdict => ({ word: 'UNKNOWN', sentence: `${says}.`, exitCode: 2 })

const warn = (sentence: string): MonlogHealthVerdict => ({ word: 'WARNING', sentence, exitCode: 1 })

const noEntries = ({ unit, window, source }: ReportFacts): string =>
  source === 'file'
    ? 'the file has no line of the consensus service'
    : `${unit ?? 'the consensus service'} logged nothing in these ${window.minutes === 1 ? '60 seconds' : `${window.minutes} minutes`}`

const why = ({ window, source }: ReportFacts): string => {
  if (window.dropped > 0) return `journald dropped ${figure(window.dropped)} messages`
  const what = source === 'file' ? 'the file' : 'the journal'
  return window.isCovered ? 'the log does not show it' : `${what} does not reach back over the last 60 seconds`
}

/** A sentence as it continues after a colon. */
const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`

/** Why there is nothing to analyse. */
export interface Problem {
  /** One sentence without its full stop. */
  readonly says: string
  /** Output of the program that failed, and what was attempted if `says` does not have it; may be empty. */
  readonly evidence: string
  readonly advice: string | null
}

const FORBIDDEN = notPermitted('').summary

/** Rethrows errors that are not about the node or its host. */
export const problemOf = (error: unknown): Problem => {
  if (!(error instanceof SourceError || error instanceof ParseError)) throw error
  const [evidence = '', advice = null] = error.message.split('\n  what to do: ')
  return error.summary === FORBIDDEN
    ? { says: 'this user may not read the journal', evidence, advice: LOG_IN_AGAIN }
    : { says: error.summary, evidence: withoutSummary(evidence, error.summary), advice }
}

/** The first line of an error is its summary with a capital letter. */
const withoutSummary = (evidence: string, summary: string): string => {
  const [first = '', ...rest] = evidence.split('\n')
  return first.toLowerCase() === summary.toLowerCase() ? rest.join('\n').trim() : evidence
}

/** A group takes effect at the next login. */
const LOG_IN_AGAIN =
  'add this user to the group systemd-journal (`usermod -aG systemd-journal USER`, as root) and log in ' +
  'again: an open session does not get the group. Or run the command as root.'

/** A finding in the range. */
export interface MonlogFinding {
  readonly name: string
  readonly severity: 'info' | 'warning' | 'critical'
  /** A sentence with its full stop, from the newest minute in which it was found. */
  readonly text: string
  readonly suggestion: string
  /** Number of minutes of the range in which it was found. */
  readonly minutes: number
  /** When the newest of these minutes ended. */
  readonly lastAt: string
  /** Whether it was found in the newest minute of the range. */
  readonly isPresent: boolean
}

const ORDER = ['critical', 'warning', 'info'] as const
/** Findings that explain others come before them. */
const CAUSES = ['panic', 'too_far_behind', 'wal_not_written', 'pacing_differs']

interface FindingsInput {
  /** Newest first. */
  readonly minutes: readonly Minute[]
  /** The log before this moment was not read, in milliseconds since the epoch. */
  readonly readFrom: number
  /** The node's own public key; null where it is not configured. */
  readonly ownKey: string | null
}

/** The findings: present ones first, then by severity. */
const findingsOf = ({ minutes, readFrom, ownKey }: FindingsInput): readonly MonlogFinding[] =>
  [...logFindings(readFrom), ownTimeouts(ownKey)]
    .flatMap(({ name, severity, suggestion, when, text }): readonly MonlogFinding[] => {
      const times = minutes.filter(when)
      const [newest] = times
      if (!newest) return []
      return [
        {
          name,
          severity,
          suggestion,
          text: sentence(text(newest)),
          minutes: times.length,
          lastAt: iso(newest.to),
          isPresent: newest.to === minutes[0]?.to,
        },
      ]
    })
    .toSorted(
      (a, b) =>
        Number(b.isPresent) - Number(a.isPresent) ||
        ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) ||
        causeOf(a) - causeOf(b),
    )

interface MinuteFinding extends Pick<MonlogFinding, 'name' | 'severity' | 'suggestion'> {
  readonly when: (one: Minute) => boolean
  readonly text: (one: Minute) => string
}

const logFindings = (readFrom: number): readonly MinuteFinding[] =>
  FINDINGS.map(({ finding: name, severity, suggestion, when, text }) => ({
    name,
    severity,
    suggestion,
    when: ({ found }) => when(found) === true,
    text: (one) => networkErrorsText(name, one, readFrom) ?? text(one.found),
  }))

/** Most rounds that timed out at this node were led by itself, while rounds of other leaders close. */
const ownTimeouts = (ownKey: string | null): MinuteFinding => {
  const own = ({ gaveUpOn }: Minute): number => gaveUpOn.find(({ leader }) => leader === ownKey)?.rounds ?? 0
  const all = ({ found }: Minute): number => found.messages.local_timeout ?? 0
  return {
    name: 'own_timeouts',
    severity: 'warning',
    when: (one) =>
      own(one) >= LIMITS.ownTimeouts.critical && own(one) > all(one) / 2 && !hasManyTimeouts(one.found, own(one)),
    text: (one) =>
      `${own(one)} of the ${all(one)} rounds that timed out here were led by this node; rounds of other leaders close as usual.`,
    suggestion:
      'Proposals of this node are late or missing: check execution (`chain-agent status execution`), the clock and the upload bandwidth. See `chain-agent runbook ChainLeaderTimeouts`.',
  }
}

/** The text of network_errors with the span that was read, which may be shorter than its five minutes. */
const networkErrorsText = (name: string, { to, found }: Minute, readFrom: number): string | undefined =>
  name === 'network_errors' && found.networkErrorPeers !== null
    ? `${figure(found.networkErrors)} errors of the network layer in ${networkSpan(to, readFrom)}, from ${figure(found.networkErrorPeers)} peers.`
    : undefined

/** The five minutes before a time, or the part of them that was read, as text. */
const networkSpan = (to: number, readFrom: number): string => {
  const read = Math.min(5, Math.max(1, Math.ceil((to - readFrom) / minute)))
  return read === 1 ? 'one minute' : `${read} minutes`
}

const causeOf = ({ name }: MonlogFinding): number => {
  const at = CAUSES.indexOf(name)
  return at < 0 ? CAUSES.length : at
}

const sentence = (text: string): string => (/[.!?\u2026]$/.test(text) ? text : `${text}.`)
