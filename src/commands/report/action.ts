import type { ConfigOptions } from '../../terminal/config-options.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import { type ActionContext, unlessInterrupted, sourceContext, UsageError } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'
import { duration, figure, utc } from '../../core/format.ts'
import { toApiJson } from '../../core/json.ts'
import { day, second } from '../../core/units.ts'
import { classCounts, coverage, rewardText, totalsOf } from '../duties/action.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { digestOf, sendReport } from './digest.ts'
import { readReport, type Report } from './report.ts'
import {
  availabilityText,
  budgetOf,
  diskText,
  incidentLabel,
  incidentText,
  known,
  ownRoundsText,
  restartText,
  versionText,
} from './texts.ts'

interface ReportCommandOptions extends ConfigOptions, OutputOptions {
  readonly since?: number
  readonly send?: boolean
}

export const showReport = async ({ io, exit, options }: ActionContext<ReportCommandOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
  if (options.send && config.alertmanagers.urls.length === 0)
    throw new UsageError('There is no Alertmanager to send the report to: set alertmanagers.urls.')
  const progress = createProgress(io)
  const done = await unlessInterrupted(io, exit, async () => {
    const { snapshot } = await readSnapshot(io, options)
    const report = await readReport(
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
    return { report, sent: options.send ? await sendReport(io, config, digestOf(report, snapshot)) : null }
  }).finally(progress.end)
  if (!done) return
  const { report, sent } = done
  printResult(
    { io, options },
    {
      document: () => toApiJson({ ...reportAsJson(report), ...(sent && { sent }) }),
      lines: (style) => [...reportPage(report, style), ...sentLines(sent ?? {}, style)],
    },
  )
  // Those of a cluster send each other what one of them has accepted.
  exit(sent === null || Object.values(sent).includes('accepted') ? 0 : 1)
}

const sentLines = (sent: Readonly<Record<string, string>>, style: Style): readonly string[] => {
  const all = Object.entries(sent)
  return all.length === 0
    ? []
    : [
        '',
        'Sent to Alertmanager:',
        ...pairs(
          all.map(([name, state]) => [name, state]),
          style,
        ),
      ]
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
  const { from, to, availability, duties, restarts, incidents, disk, versions, rewards } = report
  const rows: readonly (readonly [string, string])[] = [
    ['availability', known(availability, (value) => availabilityText(to, value))],
    ['own rounds', known(duties, (value) => `${ownRoundsText(value)}. ${coverage(value)}`)],
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
      rows.map(([label, text]) => [label, text]),
      style,
    ),
    ...(incidents.value?.incidents.length ? ['', 'Incidents:'] : []),
    ...pairs(
      (incidents.value?.incidents ?? []).map((one) => [utc(one.beganAt), incidentLabel(one, to)]),
      style,
    ),
  ]
}
