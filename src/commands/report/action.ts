import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { UsageError, type Io } from '../../terminal/io.ts'
import type { Pairs, Style } from '../../terminal/style.ts'
import { duration, figure, utc, share, count, joinList } from '../../core/format.ts'
import { toApiJson } from '../../core/json.ts'
import { day, second } from '../../core/units.ts'
import { classCounts, coverage, rewardText, totalsOf, outcomeSoFar, type Duties, type Known } from '../duties/action.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { readReport, type Report, type Availability, type Incidents, type Restarts, type Rewards } from './report.ts'
import { deliveryState, isAcceptedAlert } from '../../outbound/outbox.ts'
import type { Config } from '../../config/schema.ts'
import { oneLine } from '../../health/sections/fact.ts'
import { createAlertmanagerEndpoint } from '../../sources/endpoints.ts'
import { alertLabels, clientOf } from '../shared/alert-request.ts'
import { type Incident, lastedText } from '../replay/firings.ts'

interface ReportCommandOptions {
  readonly since?: number
  readonly send?: boolean
}

export const showReport = async (context: ConfiguredContext<ReportCommandOptions>): Promise<void> => {
  const { io, exit, options, config, host, gather, print } = context
  if (options.send && config.alertmanagers.urls.length === 0)
    throw new UsageError('There is no Alertmanager to send the report to: set alertmanagers.urls.')
  const { report, sent } = await gather(async (show) => {
    const snapshot = await readSnapshot(io, config)
    const since = options.since ?? io.clock.now() - 7 * day
    const onProgress = (blocks: number) => show(`${figure(blocks)} blocks`)
    const read = await readReport({ ...host, since, onProgress }, snapshot)
    return { report: read, sent: options.send ? await sendReport(io, config, digestOf(read)) : null }
  })
  print({
    document: () => toApiJson({ ...reportAsJson(report), ...(sent && { sent }) }),
    lines: (style) => [...reportPage(report, style), ...(sent ? sentLines(sent, style) : [])],
  })
  // Those of a cluster send each other what one of them has accepted.
  exit(sent === null || Object.values(sent).includes('accepted') ? 0 : 1)
}

const sentLines = (sent: Readonly<Record<string, string>>, style: Style): readonly string[] => [
  '',
  'Sent to Alertmanager:',
  ...style.pairs(Object.entries(sent)),
]

const reportAsJson = (report: Report) => {
  const { from, to, availability, duties, restarts, incidents, rewards, ...rest } = report
  return {
    fromAt: from,
    toAt: to,
    availability: availability.value && {
      fromAt: availability.value.fromAt,
      uptimeRatio: availability.value.fresh / availability.value.known,
      knownRatio: availability.value.known / (to - availability.value.fromAt),
      downSeconds: (availability.value.known - availability.value.fresh) / second,
      ...budgetOf(to, availability.value),
    },
    ownRounds: duties.value && {
      ...totalsOf(duties.value),
      missedByClass: classCounts(duties.value.missed),
      covered: duties.value.covered,
      unknownSinceAt: duties.value.unknownSinceAt,
      gaps: duties.value.gaps,
    },
    restarts: restarts.value,
    incidents: incidents.value && {
      fromAt: incidents.value.fromAt,
      incidents: incidents.value.incidents.map(({ severity, beganAt, endedAt, firings }) => ({
        severity,
        beganAt,
        endedAt,
        alerts: firings.map(({ alert, subject, summary }) => ({ alert, subject: subject || null, summary })),
      })),
    },
    ...rest,
    rewards: rewards.value,
    unknownBecause: Object.fromEntries(
      Object.entries({ availability, ownRounds: duties, restarts, incidents, rewards }).flatMap(
        ([name, { unknownBecause }]) => (unknownBecause === null ? [] : [[name, unknownBecause]]),
      ),
    ),
  }
}

const reportPage = (report: Report, style: Style): readonly string[] => {
  const { from, to, incidents } = report
  return [
    ...style.paragraph('strong', `REPORT: ${utc(from)} to ${utc(to)}, ${duration(to - from)}`),
    '',
    ...style.pairs(rowsOf(report)),
    ...(incidents.value?.incidents.length ? ['', 'Incidents:'] : []),
    ...style.pairs(incidentRows(report)),
  ]
}

const rowsOf = ({ to, availability, duties, restarts, incidents, disk, versions, rewards }: Report): Pairs => [
  ['availability', known(availability, (value) => availabilityText(to, value))],
  ['own rounds', known(duties, (value) => `${ownRoundsText(value)}. ${coverage(value)}`)],
  ['restarts', known(restarts, restartText)],
  ['incidents', known(incidents, incidentText)],
  ['disk', diskText(disk)],
  ['versions', versionText(versions)],
  ['rewards', known(rewards, rewardsText)],
]

const incidentRows = ({ incidents, to }: Report): Pairs =>
  (incidents.value?.incidents ?? []).map((one) => [utc(one.beganAt), incidentLabel(one, to)])

const rewardsText = ({ firstEpoch: first, lastEpoch: last, pool, commission }: Rewards): string =>
  `${rewardText(pool, commission)}, ${first === last ? `epoch ${figure(first)}` : `epochs ${figure(first)} to ${figure(last)}`}`

/** A report as the annotations of an alert: its first line, and the rows of the page. */
type Digest = Readonly<Record<'summary' | 'description', string>>

/** Incidents that are listed. */
const MAX_LISTED = 3
/** What other programs wrote may be long. */
const MAX_LINE = 300

export const digestOf = (report: Report): Digest => {
  const { from, to, incidents, availability } = report
  const counts = incidents.value ? incidentCounts(incidents.value) : 'incidents unknown'
  const up = availability.value ? [`${share(availability.value.fresh / availability.value.known)} available`] : []
  const rows = [...rowsOf(report), ...incidentRows(report).slice(0, MAX_LISTED)]
  return {
    summary: line([`Report of ${duration(to - from)}: ${counts}`, ...up].join(', ')),
    description: rows.map(([label, text]) => line(`${label}: ${text}`)).join('\n'),
  }
}

const line = (text: string): string => oneLine(text).slice(0, MAX_LINE)

const REQUEST_MS = 10 * second

/**
 * Sends the report to each Alertmanager: `accepted` by its name, or the reason of the failure. Without times the alert
 * begins and ends by the clock of Alertmanager, after its resolve_timeout.
 */
const sendReport = async (io: Io, config: Config, annotations: Digest): Promise<Readonly<Record<string, string>>> => {
  const own = await alertLabels(config, { alertname: 'ChainReport', severity: 'info' })
  const labels = { ...own, digest: 'true' }
  const ask = await clientOf(io, config)
  const sent = config.alertmanagers.urls.map(async (url): Promise<readonly [string, string]> => {
    const endpoint = createAlertmanagerEndpoint(ask, url, REQUEST_MS)
    return [endpoint.name, await deliveryState(endpoint.send([{ labels, annotations }], io.signal), isAcceptedAlert)]
  })
  return Object.fromEntries(await Promise.all(sent))
}

/** What is left of the downtime that the objective allows; unknown time does not use it. */
const budgetOf = (to: number, { fromAt, objective, known, fresh }: Availability) => ({
  objective,
  budgetRemainingRatio: 1 - (known - fresh) / ((1 - objective) * (to - fromAt)),
})

const known = <T>({ value, unknownBecause }: Known<T>, text: (value: T) => string): string =>
  value === null ? `unknown: ${unknownBecause}` : text(value)

const availabilityText = (to: number, value: Availability): string => {
  const { budgetRemainingRatio: left, objective } = budgetOf(to, value)
  const down = value.known - value.fresh
  const budget = left < 0 ? `exceeded by ${share(-left)}` : `${share(left)} left`
  return `${share(value.fresh / value.known)} of the known ${duration(value.known)} since ${utc(value.recordedFrom)} with a fresh block, ${duration(down)} without; budget of ${share(1 - objective)} downtime: ${budget}`
}

/** What became of the own rounds, and those of the missed ones that are listed, by class. */
const ownRoundsText = (duties: Duties): string => {
  const counts = Object.entries(classCounts(duties.missed)).map(([one, found]) => `${figure(found)} ${one}`)
  const classes = counts.length === 0 ? '' : `; missed by class: ${counts.join(', ')}`
  return `${outcomeSoFar(duties) ?? 'unknown: no rounds in the journal, or the key of the node is unknown'}${classes}`
}

const restartText = ({ fromAt, runs }: Restarts): string => {
  const services = [...new Set(runs.map(({ service }) => service))].toSorted()
  const counts = services.map((service) => {
    const own = runs.filter((run) => run.service === service)
    const failures = own.filter(({ result }) => result !== null && result !== 'success').length
    const starts = own.filter(({ result }) => result === null).length
    return `${service} ${count(starts, 'start')}${failures === 0 ? '' : `, ${count(failures, 'failure')}`}`
  })
  return `${counts.join('; ') || 'none'}; journal from ${utc(fromAt)}`
}

const NO_INCIDENT = 'no incident'

/** `1 critical and 2 warning incidents`, or `no incident` */
const incidentCounts = ({ incidents }: Incidents): string => {
  const counts = (['critical', 'warning'] as const).flatMap((severity) => {
    const found = incidents.filter((one) => one.severity === severity).length
    return found === 0 ? [] : [`${figure(found)} ${severity}`]
  })
  return counts.length === 0 ? NO_INCIDENT : `${joinList(counts)} incident${incidents.length === 1 ? '' : 's'}`
}

const incidentText = (value: Incidents): string =>
  `${incidentCounts(value)}; events from ${value.fromAt === null ? 'now on' : utc(value.fromAt)}`

/** `critical, 4 min: ChainServiceDown bft` */
const incidentLabel = (incident: Incident, to: number): string => {
  const { severity, firings } = incident
  const names = new Set(firings.map(({ alert, subject }) => `${alert ?? ''} ${subject}`.trim()))
  return `${severity}, ${lastedText(incident, to)}: ${[...names].join(', ')}`
}

/** What is not measured is left out. */
const diskText = ({ databaseUsedRatio, databaseDaysLeft, filesystemFreeRatio }: Report['disk']): string =>
  [
    databaseUsedRatio === null ? 'database unknown' : `database ${share(databaseUsedRatio)} used`,
    ...(databaseDaysLeft === null ? [] : [`compaction in ${count(Math.floor(databaseDaysLeft), 'day')}`]),
    `fullest file system ${filesystemFreeRatio === null ? 'unknown' : `${share(filesystemFreeRatio)} free`}`,
  ].join(', ')

const versionText = ({ installed, running, changes }: Report['versions']): string => {
  const runs = running.map(({ source, version }) => `${version ?? 'unknown'} (${source ?? ''})`).join(', ')
  const changed = changes?.map(({ at, subject, from, to }) => `${utc(at)} ${subject ?? ''} ${from ?? ''} \u2192 ${to}`)
  return [
    `${installed ?? 'unknown'} installed`,
    `${runs || 'unknown'} running`,
    changed === undefined ? 'changes unknown' : changed.join('; ') || 'no change',
  ].join('; ')
}
