import { type AlertRow, type Moment, type Severity, SEVERITIES } from './row.ts'
import { TABLE } from './table.ts'

/** An alert that would have fired. Times are milliseconds since the epoch. */
export interface Firing {
  /** Null for what is no alert, and should be known: a new start of the host, a gap. */
  readonly alert: string | null
  readonly severity: Severity
  readonly subject: string
  /** Since when it held, and when it would have fired. */
  readonly beganAt: number
  readonly firedAt: number
  /** Null where it held until the end of the recording. */
  readonly endedAt: number | null
  /** The worst of it. */
  readonly says: string
}

export interface Judge {
  judge(moment: Moment): void
  /** Something that needs no rule. */
  note(what: Pick<Firing, 'severity' | 'beganAt' | 'endedAt' | 'says'>): void
  /** From this moment on nothing is known for a while: what held is over, as far as anybody can tell. */
  lose(at: number): void
  /** All that fired, by the time at which it began. */
  firings(): readonly Firing[]
}

interface Held {
  readonly row: AlertRow
  readonly subject: string
  readonly beganAt: number
  lastAt: number
  firedAt: number | null
  worst: number
  says: string
}

/** Looks at one moment after the other, as Prometheus does with the rules. */
export const createJudge = (table: readonly AlertRow[] = TABLE): Judge => {
  const held = new Map<string, Held>()
  /** Of what began at once, the row that stands first in the table is told first. */
  const ended: { readonly order: number; readonly firing: Firing }[] = []

  const end = (key: string, one: Held, endedAt: number | null): void => {
    held.delete(key)
    if (one.firedAt === null) return
    const { row, subject, beganAt, firedAt, says } = one
    const { alert, severity } = row
    const firing = { alert, severity, subject, beganAt, firedAt, endedAt, says }
    ended.push({ order: table.indexOf(row), firing })
  }

  const hold = (row: AlertRow, at: number, found: ReturnType<AlertRow['find']>): void => {
    for (const { subject, value, says } of found) {
      const key = keyOf(row, subject)
      const before = held.get(key)
      const one = before ?? {
        row,
        subject,
        beganAt: at,
        lastAt: at,
        firedAt: null,
        worst: value,
        says,
      }
      if (!before) held.set(key, one)
      one.lastAt = at
      if (value >= one.worst) {
        one.worst = value
        one.says = says
      }
      if (one.firedAt === null && at - one.beganAt >= (row.for ?? 0)) one.firedAt = at
    }
  }

  return {
    judge: (moment) => {
      const { at } = moment
      for (const row of table) hold(row, at, row.find(moment))
      for (const [key, one] of held) {
        const keep = one.firedAt === null ? 0 : (one.row.keep ?? 0)
        if (one.lastAt < at && at - one.lastAt >= keep) end(key, one, at)
      }
    },
    note: (what) => {
      ended.push({
        order: -1,
        firing: { ...what, alert: null, subject: '', firedAt: what.beganAt },
      })
    },
    lose: (at) => {
      for (const [key, one] of held) end(key, one, at)
    },
    firings: () => {
      for (const [key, one] of held) end(key, one, null)
      return ended
        .toSorted(
          (a, b) =>
            a.firing.beganAt - b.firing.beganAt ||
            rank(a.firing.severity) - rank(b.firing.severity) ||
            a.order - b.order,
        )
        .map(({ firing }) => firing)
    },
  }
}

const keyOf = ({ alert, severity }: AlertRow, subject: string): string =>
  `${alert} ${severity} ${subject}`

/** 0 is the worst. */
export const rank = (severity: Severity): number => SEVERITIES.indexOf(severity)
