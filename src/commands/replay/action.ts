import { count, duration, figure, utc } from '../../core/format.ts'
import { closestMatch } from '../../core/suggest.ts'
import { clockTime, replay } from './replay.ts'
import { type Firing, type Incident, incidentsOf, lastedText } from './firings.ts'
import { SEVERITY_TONES } from '../../domain/health.ts'
import { recordingOf } from '../ledger/ledger.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { INCOMPLETE, InterruptedError } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import type { Style } from '../../terminal/style.ts'

interface ReplayCommandOptions {
  readonly since?: number
  readonly until?: number
  readonly file?: string
  readonly services?: string
}

export const replayJournal = async (context: ConfiguredContext<ReplayCommandOptions>): Promise<void> => {
  const { io, exit, options, command, config, host, print } = context
  const { since, until, file } = options
  const known = Object.keys(config.services.units)
  const services = options.services?.split(',').map((name) => name.trim()) ?? known
  const unknown = services.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const suggestion = closestMatch(unknown, known)
    const hint = suggestion === undefined ? `Available: ${known.join(', ')}` : `Did you mean ${suggestion}?`
    command.error(`error: no service '${unknown}'\n(${hint})`)
  }
  if (since !== undefined && until !== undefined && since >= until) {
    command.error('error: --since is not before --until')
  }
  const progress = createProgress(io)
  const startedAt = io.clock.elapsed()
  const report = await replay({
    ...host,
    recording: recordingOf(io, file),
    since,
    until,
    services: new Set(services),
    onProgress: (at, entries) => progress.show(`Replaying: ${new Date(at).toISOString()}, ${figure(entries)} lines`),
  })
    .catch((error: unknown) => {
      throw io.signal.aborted ? new InterruptedError() : error
    })
    .finally(progress.end)
  if (!report.isWhole) {
    if (report.entries === 0) throw new InterruptedError()
    io.stderr.write(`${INCOMPLETE}\n`)
  }
  const incidents = incidentsOf(report.firings)
  const summary = { ...report, incidents, tookMs: io.clock.elapsed() - startedAt }
  print({ document: () => replayAsJson(summary), lines: (style) => replayPage(summary, style) })
  exit(incidents.length === 0 && report.isWhole ? 0 : 1)
}

type ReplayReport = Awaited<ReturnType<typeof replay>>

interface ReplaySummary extends ReplayReport {
  readonly incidents: readonly Incident[]
  readonly tookMs: number
}

/** Width of the longest duration. */
const DURATION_WIDTH = '59 min 59 s'.length

/** The number of incidents, the alerts of each, and what was not evaluated. */
const replayPage = (result: ReplaySummary, style: Style): readonly string[] => {
  const { incidents, isWhole } = result
  const width = Math.max(0, ...incidents.flatMap(({ firings }) => firings.map((one) => nameOf(one).length)))
  return [
    ...style.paragraph(incidents.length === 0 && isWhole ? 'good' : 'strong', headline(result)),
    ...incidents.flatMap(({ firings }) => [
      '',
      ...firings.flatMap((firing, at) => rowOf(firing, { ...result, isFirst: at === 0, width }, style)),
    ]),
    '',
    ...notesOf(result).flatMap((note) => style.paragraph('quiet', note)),
  ]
}

const headline = ({ incidents, from, to, isWhole, clockOffsets }: ReplaySummary): string => {
  const fired = incidents.flatMap(({ firings }) => firings).length
  const [found, alerts] =
    fired === 0 ? ['No incident', ''] : [count(incidents.length, 'incident'), `: ${count(fired, 'alert')}`]
  const stopped = isWhole ? '' : ', interrupted'
  return `${found} in ${duration(to - from)} (${utc(clockTime(from, clockOffsets))} to ${utc(clockTime(to, clockOffsets))}${stopped})${alerts}`
}

interface RowContext extends Pick<ReplayReport, 'to' | 'clockOffsets'> {
  /** Whether it is the first of its incident. */
  readonly isFirst: boolean
  /** Width of the longest name. */
  readonly width: number
}

const rowOf = (firing: Firing, { isFirst, to, width, clockOffsets }: RowContext, style: Style): readonly string[] => {
  const { severity, beganAt, summary } = firing
  const tone = SEVERITY_TONES[severity]
  const head = `${utc(clockTime(beganAt, clockOffsets))}  ${lastedText(firing, to).padEnd(DURATION_WIDTH)}  ${severity.padEnd(8)}  ${nameOf(firing).padEnd(width)}`
  const sign = `${isFirst ? style.paint(tone, style.sign(tone)) : ' '} `
  if (style.width === undefined) return [`${sign}${head}  ${summary}`]
  return [...style.marked(sign, head.trimEnd(), '  '), ...style.wrap(summary, '    ')]
}

/** An event that is not an alert has no name. */
const nameOf = ({ alert }: Firing): string => alert ?? '-'

const notesOf = (summary: ReplaySummary): readonly string[] => {
  const { unreadable, missingServices: missing, notEvaluated, isOwnKeyKnown, failures, entries, tookMs } = summary
  const own = isOwnKeyKnown ? '' : '; rounds led by this node (set node.publicKey)'
  return [
    ...(missing.length === 0 ? [] : [`No line of ${missing.join(', ')}: rules that need them were not evaluated.`]),
    ...(unreadable === 0 ? [] : [`${figure(unreadable)} lines were not journal entries.`]),
    `Not evaluated: ${notEvaluated.alerts.length} alerts that need data of ${notEvaluated.needs.join(', ')}${own}.`,
    ...failures.map((failure) => `Could not evaluate ${failure}.`),
    `${figure(entries)} lines read in ${duration(Math.max(1000, tookMs))}.`,
  ]
}

const replayAsJson = (result: ReplaySummary) => {
  const time = (at: number): string => utc(clockTime(at, result.clockOffsets))
  const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at))
  return {
    from: time(result.from),
    to: time(result.to),
    isWhole: result.isWhole,
    incidents: result.incidents.map(({ severity, beganAt, endedAt, firings }) => ({
      severity,
      beganAt: time(beganAt),
      endedAt: timeOrNull(endedAt),
      alerts: firings.map((firing) => ({
        alert: firing.alert,
        severity: firing.severity,
        subject: firing.subject || null,
        beganAt: time(firing.beganAt),
        firedAt: time(firing.firedAt),
        endedAt: timeOrNull(firing.endedAt),
        summary: firing.summary,
      })),
    })),
    lines: result.entries,
    unreadable: result.unreadable,
    missingServices: result.missingServices,
    isOwnKeyKnown: result.isOwnKeyKnown,
    notEvaluated: result.notEvaluated.alerts,
    failures: result.failures,
  }
}
