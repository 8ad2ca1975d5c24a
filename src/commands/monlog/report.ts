import { ParseError, SourceError } from '../../core/errors.ts'
import { figure, shortDuration, utc } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { limitOf } from '../../health/rules/index.ts'
import { type ConsensusKind, recordOf } from '../../collectors/consensus/window.ts'
import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import type { ExtraFacts } from './extra-facts.ts'
import type { Folded } from './fold.ts'
import { findingsOf, type MonlogFinding, networkSpan } from './findings.ts'
import type { JournalContext } from './from-journal.ts'
import type { TimeRange } from './time-range.ts'

/** The analysis of a range of the consensus log. Null is unknown. It does not depend on the current time. */
export interface MonlogReport {
  readonly verdict: MonlogHealthVerdict
  readonly source: 'journal' | 'file'
  /** Unit of the consensus service; null if unknown. */
  readonly unit: string | null
  /** Package line of dpkg; null if unknown. */
  readonly package: string | null
  readonly window: {
    readonly from: string
    readonly to: string
    readonly minutes: number
    /** Whether the log covers all of it. */
    readonly isCovered: boolean
    /** Lines about consensus. */
    readonly lines: number
    /** Messages that journald reported as dropped. */
    readonly dropped: number
    /** Lines that are not journal entries. */
    readonly unreadable: number
  }
  /** Whether the service itself logged anything in the range. */
  readonly hasOwnEntries: boolean
  readonly statesync: boolean | null
  readonly blocksync: boolean | null
  readonly round: bigint | null
  readonly epoch: bigint | null
  readonly block: bigint | null
  readonly committing: boolean | null
  /** Seconds from the newest committed block to the end of the range; null if the log has none. */
  readonly committedBefore: ExtraFacts['committedBefore']
  /** Counts of the whole range; everything else is about its newest minute. */
  readonly messages: Readonly<Record<ConsensusKind, number | null>>
  readonly networkErrors: {
    /** The span of the counts, as text: the five minutes before the end, or the part of them that was read. */
    readonly within: string
    /** Null if the log has no line in the range. */
    readonly count: number | null
    readonly peers: number | null
  }
  /** Null where the number of their messages is. */
  readonly timedOutRounds: number | null
  readonly timedOutLeaders: ExtraFacts['timedOutLeaders']
  readonly group: ExtraFacts['group']
  /** The first line that looks like a consensus line and could not be parsed. */
  readonly unparsed: string | null
  readonly findings: readonly MonlogFinding[]
  /** Why the log could not be read. */
  readonly problem: Problem | null
  /** The newest lines of the unit, in the range or before it. */
  readonly newest: readonly { readonly at: string; readonly text: string }[]
}

interface ReportParts extends JournalContext, Pick<MonlogReport, 'source' | 'unit' | 'package' | 'problem'> {
  readonly range: TimeRange
  /** Nothing before this time was read, in milliseconds since the epoch. */
  readonly readFrom?: number | undefined
  /** The node's own public key; null where it is not configured. */
  readonly ownKey: string | null
  readonly folded: Folded
}

export const reportOf = (parts: ReportParts): MonlogReport => {
  const { range, folded, newest, unreadable, readFrom = range.from, ownKey, ...facts } = parts
  const { minutes, extraFacts, hasOwnEntries } = folded
  const found = minutes[0]?.found
  const sum = (valueOf: (at: number) => number | null): number | null => {
    const values = minutes.map((_, at) => valueOf(at))
    return values.length < range.minutes ? null : total(values)
  }
  const messages = recordOf(CONSENSUS_KINDS, (kind) => sum((at) => minutes[at]?.found.messages[kind] ?? null))
  const report = {
    ...facts,
    window: {
      from: utc(range.from),
      to: utc(range.to),
      minutes: range.minutes,
      isCovered: minutes.length === range.minutes && minutes.every((one) => one.found.isCovered),
      lines: count(minutes, ({ debug_line: debug, other_line: other, panic }) => debug + other + panic),
      dropped: count(minutes, ({ suppressed }) => suppressed),
      unreadable,
    },
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
      within: networkSpan(range.to, readFrom),
      // In the minutes before the range there may be some.
      count: (found && found.networkErrors > 0) || hasOwnEntries ? (found?.networkErrors ?? 0) : null,
      peers: found?.networkErrorPeers ?? null,
    },
    timedOutRounds: messages.local_timeout === null ? null : extraFacts.timedOutRounds,
    timedOutLeaders: extraFacts.timedOutLeaders,
    group: extraFacts.group,
    committedBefore: extraFacts.committedBefore,
    unparsed: found?.unparsed ?? null,
    findings: hasOwnEntries ? findingsOf({ minutes, readFrom, ownKey }) : [],
    newest: newest.map(({ at, message }) => ({
      at: new Date(at).toISOString(),
      text: message ?? '',
    })),
  }
  return { verdict: healthVerdictOf(report), ...report }
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

type ReportFacts = Omit<MonlogReport, 'verdict'>

const STALLED = ['critical', 'warning'] as const
export const HEALTHY = 'blocks are processed and committed'

/** The health verdict of the newest minute; an otherwise healthy log mentions problems of earlier minutes. */
const healthVerdictOf = (report: ReportFacts): MonlogHealthVerdict => {
  const { findings, problem, hasOwnEntries, committing, statesync } = report
  const now = findings.filter(({ isPresent }) => isPresent)
  const critical = now.find(({ severity }) => severity === 'critical')
  const warning = now.find(({ severity }) => severity === 'warning')
  const syncing = now.find(({ name }) => name === 'statesync_active')
  const starting = now.find(({ name }) => name === 'start_active')
  const before = findings.find(({ isPresent, severity }) => !isPresent && severity !== 'info')
  if (problem) return unknown(problem.summary)
  if (!hasOwnEntries) return unknown(noEntries(report))
  if (critical) return { word: 'CRITICAL', sentence: lowerFirst(critical.text), exitCode: 2 }
  // A node in statesync commits nothing, and an RPC that starts meanwhile does not listen.
  if (statesync === true && committing !== true && syncing) return warn(lowerFirst(syncing.text))
  if (committing !== true && starting) return warn(lowerFirst(starting.text))
  // The window covers a minute: a node that stopped 30 s ago still has commits in it.
  const stalled = STALLED.find((severity) => (report.committedBefore ?? 0) > limitOf('ChainBlockStalled', severity))
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

const unknown = (summary: string): MonlogHealthVerdict => ({
  word: 'UNKNOWN',
  sentence: `${summary}.`,
  exitCode: 2,
})

const warn = (sentence: string): MonlogHealthVerdict => ({ word: 'WARNING', sentence, exitCode: 1 })

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
