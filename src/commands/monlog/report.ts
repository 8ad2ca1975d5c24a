import { FINDINGS } from '../../collectors/consensus/findings.ts'
import { figure, utc } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import type { Finding } from '../../health/finding.ts'
import { type LogOptions, type ReadLog, readLog } from './log.ts'

/** Null is unknown. */
export type MonlogReport = Awaited<ReturnType<typeof analyseLog>>

/** The analysis of 60 seconds of the consensus log, which does not depend on the current time. */
export const analyseLog = async (options: LogOptions) => {
  const log = await readLog(options)
  const { source, unit, to, found, timedOutLeaders, hasOwnEntries, newest, unreadable, problem } = log
  const { seen, messages } = found
  const findings = hasOwnEntries ? findingsOf(log) : []
  return {
    log: conclusionOf(log, findings),
    source,
    unit,
    package: log.package,
    problem: problem?.message ?? null,
    window: {
      from: utc(to - minute),
      to: utc(to),
      /** Whether the log covers all of it. */
      isCovered: found.isCovered,
      /** Lines about consensus. */
      lines: seen.debug_line + seen.other_line + seen.panic,
      /** Messages that journald reported as dropped. */
      dropped: seen.suppressed,
      unreadable,
    },
    hasOwnEntries,
    statesync: found.statesyncActive,
    blocksync: found.blocksyncActive,
    round: found.round,
    epoch: found.epoch,
    block: found.block,
    // A service that logs nothing may still commit.
    committing: hasOwnEntries ? found.committing : null,
    messages,
    /** In the five minutes before the end, as far as they were read: of the journal the last one. */
    networkErrors: { count: hasOwnEntries ? found.networkErrors : null, peers: found.networkErrorPeers },
    timedOutRounds: found.localTimeoutRounds,
    timedOutLeaders,
    /** The first line that looks like a consensus line and could not be parsed. */
    unparsed: found.unparsed,
    findings,
    newest: newest.map(({ at, message }) => ({ at: new Date(at).toISOString(), text: message ?? '' })),
  }
}

const ORDER = ['critical', 'warning', 'info'] as const
/** Findings that explain others come before them. */
const CAUSES = ['panic', 'too_far_behind']

/** In the form of the other commands, the most severe first. */
const findingsOf = ({ found }: ReadLog): readonly Finding[] =>
  FINDINGS.filter(({ when }) => when(found) === true)
    .map(({ finding, severity, text, suggestion, alert }) => ({
      name: finding,
      severity,
      summary: text(found).replace(/\.$/, ''),
      evidence: [],
      advice: [suggestion, ...(alert === null ? [] : [`See \`chain-agent runbook ${alert}\`.`])],
    }))
    .toSorted(
      (a, b) =>
        ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) ||
        Number(CAUSES.includes(b.name)) - Number(CAUSES.includes(a.name)),
    )

interface Conclusion {
  readonly sentence: string
  readonly exitCode: 0 | 1 | 2
}

/** What the log shows, in a sentence, and an exit code: 2 if no blocks were committed, or that is unknown. */
const conclusionOf = (log: ReadLog, findings: readonly Finding[]): Conclusion => {
  const { found, hasOwnEntries, problem } = log
  const [first] = findings
  // A node in statesync commits nothing, and one that starts does not either.
  const notYet = findings.find(({ name }) => found.committing !== true && /^(?:statesync|start)_active$/.test(name))
  if (problem) return { sentence: `${problem.summary}.`, exitCode: 2 }
  if (!hasOwnEntries) return { sentence: `${noEntries(log)}.`, exitCode: 2 }
  if (first?.severity === 'critical') return { sentence: asClause(first), exitCode: 2 }
  if (notYet) return { sentence: asClause(notYet), exitCode: 1 }
  if (found.committing === null)
    return { sentence: `whether blocks were committed is unknown: ${why(log)}.`, exitCode: 2 }
  if (first?.severity === 'warning') return { sentence: asClause(first), exitCode: 1 }
  return { sentence: 'blocks were processed and committed.', exitCode: 0 }
}

const noEntries = ({ unit, source }: ReadLog): string =>
  source === 'file'
    ? 'the file has no line of the consensus service'
    : `the journal has no line of ${unit ?? 'the consensus service'} in these 60 seconds`

const why = ({ found, source }: ReadLog): string => {
  if (found.seen.suppressed > 0) return `journald dropped ${figure(found.seen.suppressed)} messages`
  if (found.isCovered) return 'the log does not show it'
  return `the ${source} does not reach back over the last 60 seconds`
}

/** A finding as it continues after a colon. */
const asClause = ({ summary }: Finding): string => `${summary.charAt(0).toLowerCase()}${summary.slice(1)}.`
