import { recordOf, type ConsensusKind } from '../../collectors/consensus/kinds.ts'
import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import type { Aside } from './asides.ts'
import type { Folded } from './fold.ts'
import { findingsOf, type MonlogFinding, networkSpan } from './found.ts'
import type { Around } from './from-journal.ts'
import { iso } from './iso.ts'
import type { Problem } from './problem.ts'
import type { Stretch } from './stretch.ts'
import { type MonlogVerdict, monlogVerdict } from './verdict.ts'

/** The analysis of a stretch of the consensus log. Null is unknown; nothing in it depends on when it was made. */
export interface MonlogReport {
  readonly verdict: MonlogVerdict
  readonly source: 'journal' | 'file'
  /** Of the consensus service; null where nobody can tell. */
  readonly unit: string | null
  /** As dpkg tells it. */
  readonly package: string | null
  readonly window: {
    readonly from: string
    readonly to: string
    readonly minutes: number
    /** Whether the log was there for all of it. */
    readonly isCovered: boolean
    /** Lines that tell something of consensus. */
    readonly lines: number
    /** Messages that journald says it dropped. */
    readonly dropped: number
    /** Lines that are no lines of a journal. */
    readonly unreadable: number
  }
  /** Whether the service itself said anything in the stretch. */
  readonly hasSpoken: boolean
  readonly statesync: boolean | null
  readonly blocksync: boolean | null
  readonly round: bigint | null
  readonly epoch: bigint | null
  readonly block: bigint | null
  readonly committing: boolean | null
  /** Seconds from the newest committed block to the end of the stretch; null where none is told. */
  readonly committedBefore: Aside['committedBefore']
  /** Of the whole stretch; all else is of its newest minute. */
  readonly messages: Readonly<Record<ConsensusKind, number | null>>
  readonly networkErrors: {
    /** The five minutes before the end, or as much of them as was read. */
    readonly within: string
    readonly count: number
    readonly peers: number | null
  }
  readonly gaveUpOn: Aside['gaveUpOn']
  readonly group: Aside['group']
  /** The first line that looks like ours and was not understood. */
  readonly unparsed: string | null
  readonly findings: readonly MonlogFinding[]
  /** Why the log could not be read. */
  readonly problem: Problem | null
  /** The newest lines of the unit, in the stretch or before it. */
  readonly newest: readonly { readonly at: string; readonly text: string }[]
}

interface Parts extends Around, Pick<MonlogReport, 'source' | 'unit' | 'package' | 'problem'> {
  readonly stretch: Stretch
  /** What lies before it was not read, in milliseconds since the epoch. */
  readonly readFrom?: number | undefined
  /** The node's own public key; null where it is not configured. */
  readonly ownKey: string | null
  readonly folded: Folded
}

export const reportOf = (parts: Parts): MonlogReport => {
  const { stretch, folded, newest, unreadable, readFrom = stretch.from, ownKey, ...facts } = parts
  const { minutes, asides, hasSpoken } = folded
  const found = minutes[0]?.found
  const sum = (valueOf: (at: number) => number | null): number | null => {
    const values = minutes.map((_, at) => valueOf(at))
    return values.length < stretch.minutes ? null : total(values)
  }
  const told = {
    ...facts,
    window: {
      from: iso(stretch.from),
      to: iso(stretch.to),
      minutes: stretch.minutes,
      isCovered: minutes.length === stretch.minutes && minutes.every((one) => one.found.isCovered),
      lines: count(
        minutes,
        ({ debug_line: debug, other_line: other, panic }) => debug + other + panic,
      ),
      dropped: count(minutes, ({ suppressed }) => suppressed),
      unreadable,
    },
    hasSpoken,
    statesync: found?.statesyncActive ?? null,
    blocksync: found?.blocksyncActive ?? null,
    round: found?.round ?? null,
    epoch: found?.epoch ?? null,
    block: found?.block ?? null,
    // A service that says nothing does not say that it commits nothing.
    committing: hasSpoken ? (found?.committing ?? null) : null,
    messages: recordOf(CONSENSUS_KINDS, (kind) =>
      sum((at) => minutes[at]?.found.messages[kind] ?? null),
    ),
    networkErrors: {
      within: networkSpan(stretch.to, readFrom),
      count: found?.networkErrors ?? 0,
      peers: found?.networkErrorPeers ?? null,
    },
    gaveUpOn: asides.gaveUpOn,
    group: asides.group,
    committedBefore: asides.committedBefore,
    unparsed: found?.unparsed ?? null,
    findings: hasSpoken ? findingsOf({ minutes, readFrom, ownKey }) : [],
    newest: newest.map(({ at, message }) => ({
      at: new Date(at).toISOString(),
      text: message ?? '',
    })),
  }
  return { verdict: monlogVerdict(told), ...told }
}

const total = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>(
    (all, value) => (all === null || value === null ? null : all + value),
    0,
  )

const count = (
  minutes: Folded['minutes'],
  valueOf: (seen: Folded['minutes'][number]['found']['seen']) => number,
): number => minutes.reduce((all, { found }) => all + valueOf(found.seen), 0)
