import { duration, figure, utc } from '../../core/format.ts'
import { clockTime } from './engine.ts'
import type { ReplayReport } from './replay.ts'
import type { RuleSeverity } from '../../health/rules/rule.ts'
import type { Firing } from './firings.ts'
import type { Incident } from './incidents.ts'
import type { Tone } from '../../domain/health.ts'
import { wrap, type Style } from '../../terminal/style.ts'

interface ReplaySummary extends ReplayReport {
  readonly incidents: readonly Incident[]
  readonly tookMs: number
}

/** Width of the longest duration. */
const DURATION_WIDTH = '59 min 59 s'.length

const TONES: Readonly<Record<RuleSeverity, Tone>> = {
  critical: 'bad',
  warning: 'notice',
  info: 'quiet',
  none: 'quiet',
}

/** The number of incidents, the alerts of each, and what was not evaluated. */
export const replayPage = (result: ReplaySummary, style: Style): readonly string[] => {
  const { incidents, isWhole } = result
  const width = Math.max(0, ...incidents.flatMap(({ firings }) => firings.map((one) => nameOf(one).length)))
  return [
    ...wrap(headline(result), style).map((line) =>
      style.paint(incidents.length === 0 && isWhole ? 'good' : 'strong', line),
    ),
    ...incidents.flatMap(({ firings }) => [
      '',
      ...firings.flatMap((firing, at) => rowOf(firing, { ...result, isFirst: at === 0, width }, style)),
    ]),
    '',
    ...notesOf(result).flatMap((note) => wrap(note, style).map((line) => style.paint('quiet', line))),
  ]
}

const headline = ({ incidents, from, to, isWhole, clockOffsets }: ReplaySummary): string => {
  const count = incidents.length
  const fired = incidents.reduce((sum, { firings }) => sum + firings.length, 0)
  const incidentCount = count === 0 ? 'No incident' : count === 1 ? '1 incident' : `${figure(count)} incidents`
  const alerts = count === 0 ? '' : `: ${fired === 1 ? '1 alert' : `${figure(fired)} alerts`}`
  const stopped = isWhole ? '' : ', interrupted'
  return `${incidentCount} in ${duration(to - from)} (${utc(clockTime(from, clockOffsets))} to ${utc(clockTime(to, clockOffsets))}${stopped})${alerts}`
}

interface RowContext extends Pick<ReplayReport, 'to' | 'clockOffsets'> {
  /** Whether it is the first of its incident. */
  readonly isFirst: boolean
  /** Width of the longest name. */
  readonly width: number
}

const rowOf = (firing: Firing, { isFirst, to, width, clockOffsets }: RowContext, style: Style): readonly string[] => {
  const { severity, beganAt, endedAt, summary } = firing
  const tone = TONES[severity]
  const lasted = endedAt === null ? `${duration(to - beganAt)}, firing` : duration(endedAt - beganAt)
  const head = `${utc(clockTime(beganAt, clockOffsets))}  ${lasted.padEnd(DURATION_WIDTH)}  ${severity.padEnd(8)}  ${nameOf(firing).padEnd(width)}`
  const sign = isFirst ? style.paint(tone, style.sign(tone)) : ' '
  if (style.width === undefined) return [`${sign} ${head}  ${summary}`]
  const [first = '', ...more] = wrap(head.trimEnd(), style, '  ')
  return [sign + first.slice(1), ...more, ...wrap(summary, style, '    ')]
}

/** An event that is not an alert has no name. */
const nameOf = ({ alert }: Firing): string => alert ?? '-'

const notesOf = (summary: ReplaySummary): readonly string[] => [
  ...missingOf(summary),
  ...summary.failures.map((failure) => `Could not evaluate ${failure}.`),
  `${figure(summary.entries)} lines read in ${duration(Math.max(1000, summary.tookMs))}.`,
]

const missingOf = ({ unreadable, missingServices, notEvaluated, isOwnKeyKnown }: ReplaySummary): readonly string[] => [
  ...(missingServices.length === 0
    ? []
    : [`No line of ${missingServices.join(', ')}: rules that need them were not evaluated.`]),
  ...(unreadable === 0 ? [] : [`${figure(unreadable)} lines were not journal entries.`]),
  `Not evaluated: ${notEvaluated.alerts.length} alerts that need data of ${notEvaluated.needs.join(', ')}` +
    `${isOwnKeyKnown ? '' : '; rounds led by this node (set node.publicKey)'}.`,
]

export const replayAsJson = (result: ReplaySummary) => {
  const time = (at: number): string => utc(clockTime(at, result.clockOffsets))
  return asJson(result, time)
}

const asJson = (result: ReplaySummary, time: (at: number) => string) => ({
  from: time(result.from),
  to: time(result.to),
  isWhole: result.isWhole,
  incidents: result.incidents.map(({ severity, beganAt, endedAt, firings }) => ({
    severity,
    beganAt: time(beganAt),
    endedAt: endedAt === null ? null : time(endedAt),
    alerts: firings.map((firing) => ({
      alert: firing.alert,
      severity: firing.severity,
      subject: firing.subject === '' ? null : firing.subject,
      beganAt: time(firing.beganAt),
      firedAt: time(firing.firedAt),
      endedAt: firing.endedAt === null ? null : time(firing.endedAt),
      summary: firing.summary,
    })),
  })),
  lines: result.entries,
  unreadable: result.unreadable,
  missingServices: result.missingServices,
  isOwnKeyKnown: result.isOwnKeyKnown,
  notEvaluated: result.notEvaluated.alerts,
  failures: result.failures,
})
