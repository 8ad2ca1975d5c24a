import type { ConfigOptions } from '../../terminal/config-options.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import { type ActionContext, unlessInterrupted, sourceContext } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'
import { count, duration, figure, joinList, utc, share } from '../../core/format.ts'
import { toApiJson } from '../../core/json.ts'
import { day, second } from '../../core/units.ts'
import { classCounts, coverage, outcome, rewardText, totalsOf } from '../duties/action.ts'
import type { Duties, Known } from '../duties/duties.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { type Availability, readReport, type Report, type Restarts } from './report.ts'

interface ReportCommandOptions extends ConfigOptions, OutputOptions {
  readonly since?: number
}

export const showReport = async ({ io, exit, options }: ActionContext<ReportCommandOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
  const progress = createProgress(io)
  const report = await unlessInterrupted(io, exit, async () => {
    const { snapshot } = await readSnapshot(io, options)
    return readReport(
      {
        config,
        ...sourceContext(io),
        since: options.since ?? io.clock.now() - 7 * day,
        onProgress: (blocks) => {
          progress.show(`${figure(blocks)} blocks`)
        },
      },
      snapshot,
    )
  }).finally(progress.end)
  if (!report) return
  printResult(
    { io, options },
    { document: () => toApiJson(reportAsJson(report)), lines: (style) => reportPage(report, style) },
  )
  exit(0)
}

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

/** What is left of the downtime that the objective allows; unknown time does not use it. */
const budgetOf = (to: number, { fromAt, objective, known, fresh }: Availability) => ({
  objective,
  budgetRemainingRatio: 1 - (known - fresh) / ((1 - objective) * (to - fromAt)),
})

const reportPage = (report: Report, style: Style): readonly string[] => {
  const { from, to, availability, duties, restarts, incidents, disk, versions, rewards } = report
  const rows: readonly (readonly [string, string])[] = [
    ['availability', known(availability, (value) => availabilityText(to, value))],
    [
      'own rounds',
      known(duties, (value) => `${outcome(totalsOf(value)) ?? NO_ROUNDS}${classText(value)}. ${coverage(value)}`),
    ],
    ['restarts', known(restarts, restartText)],
    ['incidents', known(incidents, incidentText)],
    ['disk', diskText(disk)],
    ['versions', versionText(versions)],
    [
      'rewards',
      known(rewards, ({ firstEpoch, lastEpoch, pool, commission }) => {
        const epochs =
          firstEpoch === lastEpoch
            ? `epoch ${figure(firstEpoch)}`
            : `epochs ${figure(firstEpoch)} to ${figure(lastEpoch)}`
        return `${rewardText(pool, commission)}, ${epochs}`
      }),
    ],
  ]
  return [
    ...wrap(`REPORT: ${utc(from)} to ${utc(to)}, ${duration(to - from)}`, style).map((line) =>
      style.paint('strong', line),
    ),
    '',
    ...pairs(
      rows.map(([label, text]) => [label, style.safe(text)]),
      style,
    ),
    ...(incidents.value?.incidents.length ? ['', 'Incidents:'] : []),
    ...pairs(
      (incidents.value?.incidents ?? []).map(({ severity, beganAt, endedAt, firings }) => {
        const lasted = endedAt === null ? `${duration(to - beganAt)}, firing` : duration(endedAt - beganAt)
        const names = new Set(firings.map(({ alert, subject }) => `${alert ?? ''} ${subject}`.trim()))
        return [utc(beganAt), style.safe(`${severity}, ${lasted}: ${[...names].join(', ')}`)]
      }),
      style,
    ),
  ]
}

const known = <T>({ value, unknownBecause }: Known<T>, text: (value: T) => string): string =>
  value === null ? `unknown: ${unknownBecause}` : text(value)

const availabilityText = (to: number, value: Availability): string => {
  const { budgetRemainingRatio: left, objective } = budgetOf(to, value)
  const down = value.known - value.fresh
  const budget = left < 0 ? `exceeded by ${share(-left)}` : `${share(left)} left`
  return `${share(value.fresh / value.known)} of the known ${duration(value.known)} since ${utc(value.fromAt)} with a fresh block, ${duration(down)} without; budget of ${share(1 - objective)} downtime: ${budget}`
}

/** `: 2 votes, 1 unknown`, of the missed ones that are listed. */
const classText = ({ missed }: Duties): string => {
  const counts = Object.entries(classCounts(missed)).map(([one, found]) => `${figure(found)} ${one}`)
  return counts.length === 0 ? '' : `; missed by class: ${counts.join(', ')}`
}

const NO_ROUNDS = 'unknown: no rounds in the journal, or the key of the node is unknown'

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

const incidentText = ({ fromAt, incidents }: NonNullable<Report['incidents']['value']>): string => {
  const counts = (['critical', 'warning'] as const).flatMap((severity) => {
    const found = incidents.filter((one) => one.severity === severity).length
    return found === 0 ? [] : [`${figure(found)} ${severity}`]
  })
  return `${joinList(counts) || 'none'}; events from ${fromAt === null ? 'now on' : utc(fromAt)}`
}

const diskText = ({ databaseUsedRatio, databaseDaysLeft, filesystemFreeRatio }: Report['disk']): string => {
  const used = databaseUsedRatio === null ? 'database unknown' : `database ${share(databaseUsedRatio)} used`
  const days =
    databaseDaysLeft === null
      ? 'days until compaction unknown: not measured yet, or not growing'
      : `compaction in ${count(Math.floor(databaseDaysLeft), 'day')}`
  const free = filesystemFreeRatio === null ? 'unknown' : `${share(filesystemFreeRatio)} free`
  return `${used}, ${days}; fullest file system ${free}, its days left unknown: the agent keeps no history of it`
}

const versionText = ({ installed, running, changes }: Report['versions']): string => {
  const runs = running.map(({ source, version }) => `${version ?? 'unknown'} (${source ?? ''})`).join(', ')
  const changed = changes?.map(({ at, subject, from, to }) => `${utc(at)} ${subject ?? ''} ${from ?? ''} \u2192 ${to}`)
  return [
    `${installed ?? 'unknown'} installed`,
    `${runs || 'unknown'} running`,
    changed === undefined ? 'changes unknown' : changed.join('; ') || 'no change',
  ].join('; ')
}
