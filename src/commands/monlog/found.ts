import { FINDINGS, hasManyTimeouts } from '../../collectors/consensus/findings.ts'
import { figure } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { LIMITS } from '../../health/limits.ts'
import type { Minute } from './fold.ts'
import { iso } from './iso.ts'

/** One finding of the stretch. */
export interface MonlogFinding {
  readonly name: string
  readonly severity: 'info' | 'warning' | 'critical'
  /** A sentence with its full stop, of the newest minute in which it was found. */
  readonly text: string
  readonly suggestion: string
  /** In how many minutes of the stretch. */
  readonly minutes: number
  /** When the newest of these minutes ended. */
  readonly lastAt: string
  /** Whether the newest minute of all is among them. */
  readonly isPresent: boolean
}

const ORDER = ['critical', 'warning', 'info'] as const
/** What explains the others, before what follows from it. */
const CAUSES = ['panic', 'too_far_behind', 'wal_not_written', 'pacing_differs']

interface Analysed {
  /** The newest first. */
  readonly minutes: readonly Minute[]
  /** The log before this moment was not read, in milliseconds since the epoch. */
  readonly readFrom: number
  /** The node's own public key; null where it is not configured. */
  readonly ownKey: string | null
}

/** The findings: present ones first, and the more severe first among them. */
export const findingsOf = ({ minutes, readFrom, ownKey }: Analysed): readonly MonlogFinding[] =>
  [...ofLog(readFrom), ownTimeouts(ownKey)]
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

const ofLog = (readFrom: number): readonly MinuteFinding[] =>
  FINDINGS.map(({ finding: name, severity, suggestion, when, text }) => ({
    name,
    severity,
    suggestion,
    when: ({ found }) => when(found) === true,
    text: (one) => wordsOf(name, one, readFrom) ?? text(one.found),
  }))

/** Most rounds that this node gave up were its own to lead, while those of other leaders close. */
const ownTimeouts = (ownKey: string | null): MinuteFinding => {
  const own = ({ gaveUpOn }: Minute): number =>
    gaveUpOn.find(({ leader }) => leader === ownKey)?.rounds ?? 0
  const all = ({ found }: Minute): number => found.messages.local_timeout ?? 0
  return {
    name: 'own_timeouts',
    severity: 'warning',
    when: (one) =>
      own(one) >= LIMITS.ownTimeouts.critical &&
      own(one) > all(one) / 2 &&
      !hasManyTimeouts(one.found, own(one)),
    text: (one) =>
      `${own(one)} of the ${all(one)} rounds that timed out here were led by this node; rounds of other leaders close as usual.`,
    suggestion:
      'Proposals of this node are late or missing: check execution (`chain-agent status execution`), the clock and the upload bandwidth. See `chain-agent runbook ChainLeaderTimeouts`.',
  }
}

/** Of these the finding speaks as of five minutes, and we have read fewer. */
const wordsOf = (name: string, { to, found }: Minute, readFrom: number): string | undefined =>
  name === 'network_errors' && found.networkErrorPeers !== null
    ? `${figure(found.networkErrors)} errors of the network layer in ${networkSpan(to, readFrom)}, from ${figure(found.networkErrorPeers)} peers.`
    : undefined

/** The five minutes before a moment, or as much of them as was read. */
export const networkSpan = (to: number, readFrom: number): string => {
  const read = Math.min(5, Math.max(1, Math.ceil((to - readFrom) / minute)))
  return read === 1 ? 'one minute' : `${read} minutes`
}

const causeOf = ({ name }: MonlogFinding): number => {
  const at = CAUSES.indexOf(name)
  return at < 0 ? CAUSES.length : at
}

const sentence = (text: string): string => (/[.!?\u2026]$/.test(text) ? text : `${text}.`)
