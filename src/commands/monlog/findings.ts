import { FINDINGS, hasManyTimeouts } from '../../collectors/consensus/findings.ts'
import { figure, utc } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { limitOf } from '../../health/rules/index.ts'
import type { Minute } from './fold.ts'

/** A finding in the range. */
export interface MonlogFinding {
  readonly name: string
  readonly severity: 'info' | 'warning' | 'critical'
  /** A sentence with its full stop, from the newest minute in which it was found. */
  readonly text: string
  readonly suggestion: string
  /** The alert on the same condition, which has a runbook; null if there is none. */
  readonly alert: string | null
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
export const findingsOf = ({ minutes, readFrom, ownKey }: FindingsInput): readonly MonlogFinding[] =>
  [...logFindings(readFrom), ownTimeouts(ownKey)]
    .flatMap(({ name, severity, suggestion, alert, when, text }): readonly MonlogFinding[] => {
      const times = minutes.filter(when)
      const [newest] = times
      if (!newest) return []
      return [
        {
          name,
          severity,
          suggestion,
          alert,
          text: sentence(text(newest)),
          minutes: times.length,
          lastAt: utc(newest.to),
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

interface MinuteFinding extends Pick<MonlogFinding, 'name' | 'severity' | 'suggestion' | 'alert'> {
  readonly when: (one: Minute) => boolean
  readonly text: (one: Minute) => string
}

const logFindings = (readFrom: number): readonly MinuteFinding[] =>
  FINDINGS.map(({ finding: name, severity, suggestion, alert, when, text }) => ({
    name,
    severity,
    suggestion,
    alert,
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
export const networkSpan = (to: number, readFrom: number): string => {
  const read = Math.min(5, Math.max(1, Math.ceil((to - readFrom) / minute)))
  return read === 1 ? 'one minute' : `${read} minutes`
}

const causeOf = ({ name }: MonlogFinding): number => {
  const at = CAUSES.indexOf(name)
  return at < 0 ? CAUSES.length : at
}

const sentence = (text: string): string => (/[.!?\u2026]$/.test(text) ? text : `${text}.`)
