import { count, duration, figure, joinList, share, utc } from '../../core/format.ts'
import { classCounts, outcomeSoFar } from '../duties/action.ts'
import type { Duties, Known } from '../duties/duties.ts'
import type { Incident } from '../replay/incidents.ts'
import type { Availability, Report, Restarts } from './report.ts'

/** What is left of the downtime that the objective allows; unknown time does not use it. */
export const budgetOf = (to: number, { fromAt, objective, known, fresh }: Availability) => ({
  objective,
  budgetRemainingRatio: 1 - (known - fresh) / ((1 - objective) * (to - fromAt)),
})

export const known = <T>({ value, unknownBecause }: Known<T>, text: (value: T) => string): string =>
  value === null ? `unknown: ${unknownBecause}` : text(value)

export const availabilityText = (to: number, value: Availability): string => {
  const { budgetRemainingRatio: left, objective } = budgetOf(to, value)
  const down = value.known - value.fresh
  const budget = left < 0 ? `exceeded by ${share(-left)}` : `${share(left)} left`
  return `${share(value.fresh / value.known)} of the known ${duration(value.known)} since ${utc(value.recordedFrom)} with a fresh block, ${duration(down)} without; budget of ${share(1 - objective)} downtime: ${budget}`
}

/** What became of the own rounds, and the missed ones by class. */
export const ownRoundsText = (duties: Duties): string => `${outcomeSoFar(duties) ?? NO_ROUNDS}${classText(duties)}`

/** `: 2 votes, 1 unknown`, of the missed ones that are listed. */
const classText = ({ missed }: Duties): string => {
  const counts = Object.entries(classCounts(missed)).map(([one, found]) => `${figure(found)} ${one}`)
  return counts.length === 0 ? '' : `; missed by class: ${counts.join(', ')}`
}

const NO_ROUNDS = 'unknown: no rounds in the journal, or the key of the node is unknown'

export const restartText = ({ fromAt, runs }: Restarts): string => {
  const services = [...new Set(runs.map(({ service }) => service))].toSorted()
  const counts = services.map((service) => {
    const own = runs.filter((run) => run.service === service)
    const failures = own.filter(({ result }) => result !== null && result !== 'success').length
    const starts = own.filter(({ result }) => result === null).length
    return `${service} ${count(starts, 'start')}${failures === 0 ? '' : `, ${count(failures, 'failure')}`}`
  })
  return `${counts.join('; ') || 'none'}; journal from ${utc(fromAt)}`
}

export const NO_INCIDENT = 'no incident'

/** `1 critical and 2 warning incidents`, or `no incident` */
export const incidentCounts = ({ incidents }: NonNullable<Report['incidents']['value']>): string => {
  const counts = (['critical', 'warning'] as const).flatMap((severity) => {
    const found = incidents.filter((one) => one.severity === severity).length
    return found === 0 ? [] : [`${figure(found)} ${severity}`]
  })
  return counts.length === 0 ? NO_INCIDENT : `${joinList(counts)} incident${incidents.length === 1 ? '' : 's'}`
}

export const incidentText = (value: NonNullable<Report['incidents']['value']>): string =>
  `${incidentCounts(value)}; events from ${value.fromAt === null ? 'now on' : utc(value.fromAt)}`

/** `critical, 4 min: ChainServiceDown bft` */
export const incidentLabel = ({ severity, beganAt, endedAt, firings }: Incident, to: number): string => {
  const lasted = endedAt === null ? `${duration(to - beganAt)}, firing` : duration(endedAt - beganAt)
  const names = new Set(firings.map(({ alert, subject }) => `${alert ?? ''} ${subject}`.trim()))
  return `${severity}, ${lasted}: ${[...names].join(', ')}`
}

/** What is not measured is left out. */
export const diskText = ({ databaseUsedRatio, databaseDaysLeft, filesystemFreeRatio }: Report['disk']): string =>
  [
    databaseUsedRatio === null ? 'database unknown' : `database ${share(databaseUsedRatio)} used`,
    ...(databaseDaysLeft === null ? [] : [`compaction in ${count(Math.floor(databaseDaysLeft), 'day')}`]),
    `fullest file system ${filesystemFreeRatio === null ? 'unknown' : `${share(filesystemFreeRatio)} free`}`,
  ].join(', ')

export const versionText = ({ installed, running, changes }: Report['versions']): string => {
  const runs = running.map(({ source, version }) => `${version ?? 'unknown'} (${source ?? ''})`).join(', ')
  const changed = changes?.map(({ at, subject, from, to }) => `${utc(at)} ${subject ?? ''} ${from ?? ''} \u2192 ${to}`)
  return [
    `${installed ?? 'unknown'} installed`,
    `${runs || 'unknown'} running`,
    changed === undefined ? 'changes unknown' : changed.join('; ') || 'no change',
  ].join('; ')
}
