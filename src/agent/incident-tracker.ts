import { minute } from '../core/units.ts'
import type { RuleFinding } from '../parsers/agent-status.ts'
import { keyOf } from '../health/promql/series.ts'
import type { Incident } from '../parsers/incident.ts'

/** Alerts that fire within this time belong together: they have one cause, or one alert that comes and goes. */
const JOINED = 10 * minute
/** An alert that comes and goes for longer is another incident. */
const LONGEST = 60 * minute

export const alertKey = ({ alert, labels }: Pick<RuleFinding, 'alert' | 'labels'>): string =>
  `${alert} ${keyOf(labels)}`

/** Which alert belongs to which incident. Reads neither a file nor a clock. `startedAt`: the start of this agent. */
export const createIncidentTracker = (startedAt: number) => {
  /** The incident of each alert that fires. */
  const firing = new Map<string, string>()
  /** Alerts of an earlier agent: it is not known yet whether their condition still holds. */
  const restored = new Set<string>()
  /** The newest incident: when it began, and when its last alert fired. */
  let newest: { readonly id: string; readonly beganAt: number; readonly lastAt: number } | undefined

  const isOver = (key: string, active: ReadonlyMap<string, RuleFinding>, at: number): boolean => {
    if (active.has(key)) {
      restored.delete(key)
      return false
    }
    // After a restart a rule may take minutes until its condition is known.
    return !restored.has(key) || at - startedAt >= JOINED
  }

  return {
    /** The keys of the alerts that have ended, by incident, and the critical alerts that begin to fire. */
    observe: (at: number, findings: readonly RuleFinding[]) => {
      const active = new Map(findings.map((finding) => [alertKey(finding), finding]))
      const ended = new Map<string, Set<string>>()
      for (const [key, id] of firing) {
        if (!isOver(key, active, at)) continue
        firing.delete(key)
        ended.set(id, (ended.get(id) ?? new Set()).add(key))
      }
      const fresh = [...active].flatMap(([key, finding]) =>
        finding.state === 'firing' && finding.severity === 'critical' && !firing.has(key) ? [finding] : [],
      )
      return { ended, fresh }
    },
    /** The incident that alerts of this time join; undefined if they begin another one. */
    joinedAt: (at: number): string | undefined =>
      newest && Math.abs(at - newest.lastAt) <= JOINED && Math.abs(at - newest.beganAt) <= LONGEST
        ? newest.id
        : undefined,
    /** Adds alerts to an incident, which is the newest one from then on. */
    add: (id: string, at: number, alerts: readonly RuleFinding[]): void => {
      newest = { id, beganAt: newest?.id === id ? newest.beganAt : at, lastAt: at }
      for (const finding of alerts) firing.set(alertKey(finding), id)
    },
    /**
     * Takes an incident of an earlier agent, the oldest first. Returns the keys of those of its alerts that have ended at
     * an unknown time: the incident began too long ago.
     */
    restore: (id: string, { firedAt, alerts }: Incident): readonly string[] => {
      const beganAt = Date.parse(firedAt)
      newest = { id, beganAt, lastAt: Math.max(...alerts.map((alert) => Date.parse(alert.firedAt))) }
      const unended = alerts.filter(({ endedAt }) => endedAt === null).map(alertKey)
      if (Math.abs(startedAt - beganAt) >= LONGEST) return unended
      for (const key of unended) {
        firing.set(key, id)
        restored.add(key)
      }
      return []
    },
    /** Forgets an incident that could not be written: its alerts begin another one. */
    forget: (id: string): void => {
      for (const [key, one] of firing) if (one === id) firing.delete(key)
      if (newest?.id === id) newest = undefined
    },
    idOf: (finding: RuleFinding): string | undefined => firing.get(alertKey(finding)),
  }
}
