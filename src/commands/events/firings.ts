import { hour } from '../../core/units.ts'
import { type Event, isAtLeast } from '../../domain/event.ts'
import type { Firing } from '../replay/firings.ts'

/** After a restart of the agent, an alert that fires again within this time is the same one. */
const RESUMED_MS = hour

type RecordedFiring = Firing & Pick<Event, 'severity'>

/** The alerts that the agent has recorded, by the time at which they began. */
export const recordedFirings = (events: readonly Event[]): readonly RecordedFiring[] => {
  const open = new Map<string, RecordedFiring>()
  const interrupted = new Map<string, RecordedFiring>()
  const ended: RecordedFiring[] = []
  for (const event of events) {
    const { collector, subject, at } = event
    if (collector === 'agent' && event.to !== 'stopped') {
      for (const [key, firing] of open) interrupted.set(key, { ...firing, endedAt: at })
      open.clear()
    }
    if (collector !== 'alerts' || subject === null) continue
    const firing = open.get(subject)
    // The agent records `critical: SUMMARY` for an alert that fires.
    if (/^(?:critical|warning|info): /.test(event.to)) {
      const stopped = interrupted.get(subject)
      const isResumed = stopped !== undefined && at - (stopped.endedAt ?? at) <= RESUMED_MS
      if (!firing && isResumed) interrupted.delete(subject)
      open.set(subject, firingOf(event, subject, firing ?? (isResumed ? stopped : undefined)))
    } else if (firing) {
      ended.push({ ...firing, endedAt: at })
      open.delete(subject)
    }
  }
  return [...ended, ...interrupted.values(), ...open.values()].toSorted((a, b) => a.beganAt - b.beganAt)
}

const firingOf = ({ at, to, severity }: Event, subject: string, before?: RecordedFiring): RecordedFiring => {
  const [alert = subject, ...labels] = subject.split(' ')
  const isWorse = before === undefined || isAtLeast(severity, before.severity)
  return {
    alert,
    severity: isWorse ? severity : before.severity,
    subject: labels.join(' '),
    beganAt: before?.beganAt ?? at,
    firedAt: before?.firedAt ?? at,
    endedAt: null,
    summary: isWorse ? to.replace(/^\w+: /, '') : before.summary,
  }
}
