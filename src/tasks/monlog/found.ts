import { FINDINGS } from '../../collectors/parts/consensus/findings.ts'
import { minute } from '../../core/units.ts'
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

/**
 * What is found, the worst first, and what is found now before what is over. `minutes`: the newest first;
 * `readFrom`: what lies before it was not read, in milliseconds since the epoch.
 */
export const findingsOf = (
  minutes: readonly Minute[],
  readFrom: number,
): readonly MonlogFinding[] =>
  FINDINGS.flatMap(
    ({ finding: name, severity, suggestion, when, text }): readonly MonlogFinding[] => {
      const times = minutes.filter(({ found }) => when(found) === true)
      const [newest] = times
      if (!newest) return []
      return [
        {
          name,
          severity,
          suggestion,
          text: sentence(wordsOf(name, newest, readFrom) ?? text(newest.found)),
          minutes: times.length,
          lastAt: iso(newest.to),
          isPresent: newest.to === minutes[0]?.to,
        },
      ]
    },
  ).toSorted(
    (a, b) =>
      Number(b.isPresent) - Number(a.isPresent) ||
      ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) ||
      causeOf(a) - causeOf(b),
  )

/** Of these the finding speaks as of five minutes, and we have read fewer. */
const wordsOf = (name: string, { to, found }: Minute, readFrom: number): string | undefined =>
  name === 'network_errors'
    ? `${found.networkErrors} errors of the network layer in ${networkSpan(to, readFrom)}, from ${found.networkErrorPeers} peers.`
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
