import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import { FINDINGS, hasManyTimeouts } from '../../collectors/consensus/findings.ts'
import { recordFor } from '../../core/record.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { figure, utc } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { limitOf } from '../../health/rules/index.ts'
import type { Folded, JournalContext, Minute, TimeRange } from './fold.ts'

/** The analysis of a range of the consensus log. Null is unknown. It does not depend on the current time. */
export type MonlogReport = ReturnType<typeof reportOf>

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

export const reportOf = (parts: ReportParts) => {
  const facts = factsOf(parts)
  return { log: conclusionOf(facts), ...facts }
}

type ReportFacts = ReturnType<typeof factsOf>

/** The counts are of the whole range; everything else is about its newest minute. */
const factsOf = (parts: ReportParts) => {
  const { range, folded, newest, unreadable, readFrom = range.from, ownKey, ...facts } = parts
  const { minutes, extraFacts, hasOwnEntries } = folded
  const found = minutes[0]?.found
  const sum = (valueOf: (at: number) => number | null): number | null => {
    const values = minutes.map((_, at) => valueOf(at))
    return values.length < range.minutes ? null : total(values)
  }
  const messages = recordFor(CONSENSUS_KINDS, (kind) => sum((at) => minutes[at]?.found.messages[kind] ?? null))
  return {
    ...facts,
    window: {
      from: utc(range.from),
      to: utc(range.to),
      minutes: range.minutes,
      /** Whether the log covers all of it. */
      isCovered: minutes.length === range.minutes && minutes.every((one) => one.found.isCovered),
      /** Lines about consensus. */
      lines: count(minutes, ({ debug_line: debug, other_line: other, panic }) => debug + other + panic),
      /** Messages that journald reported as dropped. */
      dropped: count(minutes, ({ suppressed }) => suppressed),
      /** Lines that are not journal entries. */
      unreadable,
    },
    /** Whether the service itself logged anything in the range. */
    hasOwnEntries,
    statesync: found?.statesyncActive ?? null,
    blocksync: found?.blocksyncActive ?? null,
    round: found?.round ?? null,
    epoch: found?.epoch ?? null,
    block: found?.block ?? null,
    // A service that logs nothing may still commit.
    committing: hasOwnEntries ? (found?.committing ?? null) : null,
    messages,
    networkErrors: {
      /** The span of the counts, as text: the five minutes before the end, or the part of them that was read. */
      within: networkSpan(range.to, readFrom),
      // In the minutes before the range there may be some.
      count: (found && found.networkErrors > 0) || hasOwnEntries ? (found?.networkErrors ?? 0) : null,
      peers: found?.networkErrorPeers ?? null,
    },
    /** Null where the number of their messages is. */
    timedOutRounds: messages.local_timeout === null ? null : extraFacts.timedOutRounds,
    timedOutLeaders: extraFacts.timedOutLeaders,
    group: extraFacts.group,
    committedBefore: extraFacts.committedBefore,
    /** The first line that looks like a consensus line and could not be parsed. */
    unparsed: found?.unparsed ?? null,
    findings: hasOwnEntries ? findingsOf(minutes, readFrom, ownKey) : [],
    /** The newest lines of the unit, in the range or before it. */
    newest: newest.map(({ at, message }) => ({ at: new Date(at).toISOString(), text: message ?? '' })),
  }
}

const total = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((all, value) => (all === null || value === null ? null : all + value), 0)

const count = (minutes: readonly Minute[], valueOf: (seen: Minute['found']['seen']) => number): number =>
  minutes.reduce((all, { found }) => all + valueOf(found.seen), 0)

/**
 * What the log shows of its newest minute, in a sentence, and an exit code: 2 if no blocks were committed, or that is
 * unknown. An otherwise healthy log mentions problems of earlier minutes.
 */
const conclusionOf = (report: ReportFacts): { readonly sentence: string; readonly exitCode: 0 | 1 | 2 } => {
  const { findings, problem, hasOwnEntries, committing } = report
  const now = findings.filter(({ isPresent }) => isPresent)
  const [critical, warning] = ['critical', 'warning'].map((one) => now.find(({ severity }) => severity === one))
  // A node in statesync commits nothing, and one that starts does not either.
  const notYet = now.find(({ name }) => committing !== true && /^(?:statesync|start)_active$/.test(name))
  const before = findings.find(({ isPresent, severity }) => !isPresent && severity !== 'info')
  if (problem) return { sentence: `${problem.summary}.`, exitCode: 2 }
  if (!hasOwnEntries) return { sentence: `${noEntries(report)}.`, exitCode: 2 }
  if (critical) return { sentence: lowerFirst(critical.text), exitCode: 2 }
  if (notYet) return { sentence: lowerFirst(notYet.text), exitCode: 1 }
  if (committing === null) return { sentence: `whether blocks were committed is unknown: ${why(report)}.`, exitCode: 2 }
  if (warning) return { sentence: lowerFirst(warning.text), exitCode: 1 }
  return before
    ? { sentence: `${COMMITTED}; before ${before.lastAt}: ${lowerFirst(before.text)}`, exitCode: 1 }
    : { sentence: `${COMMITTED}.`, exitCode: 0 }
}

const COMMITTED = 'blocks were processed and committed'

const noEntries = ({ unit, window, source }: ReportFacts): string =>
  source === 'file'
    ? 'the file has no line of the consensus service'
    : `the journal has no line of ${unit ?? 'the consensus service'} in these ${window.minutes === 1 ? '60 seconds' : `${window.minutes} minutes`}`

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
  readonly summary: string
  /** Output of the program that failed, and what was attempted if `summary` does not have it; may be empty. */
  readonly evidence: string
  readonly advice: string | null
}

/** Rethrows errors that are not about the node or its host. */
export const problemOf = (error: unknown): Problem => {
  if (!(error instanceof SourceError || error instanceof ParseError)) throw error
  const { code, advice = null } = error instanceof SourceError ? error : {}
  const evidence = advice === null ? error.message : error.message.replace(`\n  what to do: ${advice}`, '')
  return code === 'journal not permitted'
    ? { summary: 'this user may not read the journal', evidence, advice: LOG_IN_AGAIN }
    : { summary: error.summary, evidence: withoutSummary(evidence, error.summary), advice }
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
export type MonlogFinding = ReturnType<typeof findingsOf>[number]

const ORDER = ['critical', 'warning', 'info'] as const
/** Findings that explain others come before them. */
const CAUSES = ['panic', 'too_far_behind', 'wal_not_written', 'pacing_differs']

/** The findings: present ones first, then by severity. `minutes`: newest first. */
const findingsOf = (minutes: readonly Minute[], readFrom: number, ownKey: string | null) =>
  [...logFindings(readFrom), ownTimeouts(ownKey)]
    .flatMap(({ name, severity, suggestion, alert, when, text }) => {
      const times = minutes.filter(when)
      const [newest] = times
      if (!newest) return []
      return {
        name,
        severity,
        suggestion,
        alert,
        /** A sentence with its full stop, from the newest minute in which it was found. */
        text: sentence(text(newest)),
        /** Number of minutes of the range in which it was found. */
        minutes: times.length,
        /** When the newest of these minutes ended. */
        lastAt: utc(newest.to),
        isPresent: newest.to === minutes[0]?.to,
      }
    })
    .toSorted(
      (a, b) =>
        Number(b.isPresent) - Number(a.isPresent) ||
        ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) ||
        causeOf(a.name) - causeOf(b.name),
    )

interface MinuteFinding {
  readonly name: string
  readonly severity: 'info' | 'warning' | 'critical'
  readonly suggestion: string
  /** The alert on the same condition, which has a runbook; null if there is none. */
  readonly alert: string | null
  readonly when: (one: Minute) => boolean
  readonly text: (one: Minute) => string
}

const logFindings = (readFrom: number): readonly MinuteFinding[] =>
  FINDINGS.map(({ finding: name, when, text, ...rest }) => ({
    ...rest,
    name,
    when: ({ found }) => when(found) === true,
    text: (one) => networkErrorsText(name, one, readFrom) ?? text(one.found),
  }))

/** Most rounds that timed out at this node were led by itself, while rounds of other leaders close. */
const ownTimeouts = (ownKey: string | null): MinuteFinding => {
  const own = ({ timedOutLeaders }: Minute): number =>
    timedOutLeaders.find(({ leader }) => leader === ownKey)?.rounds ?? 0
  const all = ({ found }: Minute): number => found.localTimeoutRounds ?? 0
  return {
    name: 'own_timeouts',
    severity: 'warning',
    when: (one) =>
      own(one) >= limitOf('ChainLeaderTimeouts.in-a-row', 'critical') &&
      own(one) > all(one) / 2 &&
      !hasManyTimeouts(one.found, own(one)),
    text: (one) =>
      `${own(one)} of the ${all(one)} rounds that timed out here were led by this node; rounds of other leaders close as usual.`,
    suggestion:
      'Proposals of this node are late or missing: check execution (`chain-agent status execution`), the clock and the upload bandwidth.',
    alert: 'ChainLeaderTimeouts',
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

const causeOf = (name: string): number => {
  const at = CAUSES.indexOf(name)
  return at < 0 ? CAUSES.length : at
}

const sentence = (text: string): string => (/[.!?\u2026]$/.test(text) ? text : `${text}.`)
