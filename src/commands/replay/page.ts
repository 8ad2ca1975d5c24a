import { duration, figure } from '../../core/format.ts'
import { sanitize } from '../../core/sanitize.ts'
import type { Replayed } from './replay.ts'
import type { Incident } from '../../health/incidents/incidents.ts'
import type { Firing } from '../../health/incidents/judge.ts'
import type { Severity } from '../../health/incidents/row.ts'
import { NOT_TOLD } from '../../health/incidents/table.ts'
import { wrap } from '../../cli/terminal/layout.ts'
import type { Style, Tone } from '../../cli/terminal/style.ts'

interface Look extends Replayed {
  readonly incidents: readonly Incident[]
  readonly tookMs: number
}

/** Of the longest duration. */
const DURATION = '59 min 59 s'.length

const TONES: Readonly<Record<Severity, Tone>> = {
  critical: 'bad',
  warning: 'notice',
  info: 'quiet',
}

/** How many there were, each with what it was made of, and what was not judged. */
export const replayPage = (look: Look, style: Style): readonly string[] => {
  const { incidents, to, isWhole } = look
  const width = Math.max(
    0,
    ...incidents.flatMap(({ firings }) => firings.map((one) => nameOf(one).length)),
  )
  return [
    ...wrap(headline(look), style).map((line) =>
      style.paint(incidents.length === 0 && isWhole ? 'good' : 'strong', line),
    ),
    ...incidents.flatMap(({ firings }) => [
      '',
      ...firings.flatMap((firing, at) => rowOf(firing, { isFirst: at === 0, to, width }, style)),
    ]),
    '',
    ...notesOf(look).flatMap((note) =>
      wrap(style.plain(note), style).map((line) => style.paint('quiet', line)),
    ),
  ]
}

const headline = ({ incidents, from, to, isWhole }: Look): string => {
  const count = incidents.length
  const fired = incidents.reduce((sum, { firings }) => sum + firings.length, 0)
  const said =
    count === 0 ? 'No incident' : count === 1 ? '1 incident' : `${figure(count)} incidents`
  const alerts = count === 0 ? '' : `: ${fired === 1 ? '1 alert' : `${figure(fired)} alerts`}`
  const stopped = isWhole ? '' : ', stopped there'
  return `${said} in ${duration(to - from)} (${utc(from)} to ${utc(to)}${stopped})${alerts}`
}

interface Place {
  /** Whether it leads its incident; the others followed from it, or came with it. */
  readonly isFirst: boolean
  /** Where the recording ends. */
  readonly to: number
  /** Of the longest name. */
  readonly width: number
}

const rowOf = (firing: Firing, { isFirst, to, width }: Place, style: Style): readonly string[] => {
  const { severity, beganAt, endedAt, says } = firing
  const tone = TONES[severity]
  const lasted =
    endedAt === null ? `${duration(to - beganAt)}, not over` : duration(endedAt - beganAt)
  const head = `${utc(beganAt)}  ${lasted.padEnd(DURATION)}  ${severity.padEnd(8)}  ${nameOf(firing).padEnd(width)}`
  const sign = isFirst ? style.paint(tone, style.sign(tone)) : ' '
  const told = style.plain(sanitize(says))
  if (style.width === undefined) return [`${sign} ${head}  ${told}`]
  const [first = '', ...more] = wrap(head.trimEnd(), style, '  ')
  return [sign + first.slice(1), ...more, ...wrap(told, style, '    ')]
}

/** What is no alert has no name. */
const nameOf = ({ alert }: Firing): string => alert ?? '-'

const notesOf = ({ entries, unreadable, unheard, knowsOwn, tookMs }: Look): readonly string[] => [
  ...(unheard.length === 0
    ? []
    : [`No line of ${unheard.join(', ')}: what only they tell was not judged.`]),
  ...(unreadable === 0 ? [] : [`${figure(unreadable)} lines were no entries of a journal.`]),
  `Not judged: ${NOT_TOLD}${knowsOwn ? '' : '; its own turns (set node.publicKey)'}.`,
  `${figure(entries)} lines read in ${duration(Math.max(1000, tookMs))}.`,
]

export const replayAsJson = (look: Look) => ({
  from: utc(look.from),
  to: utc(look.to),
  isWhole: look.isWhole,
  incidents: look.incidents.map(({ severity, beganAt, endedAt, firings }) => ({
    severity,
    beganAt: utc(beganAt),
    endedAt: endedAt === null ? null : utc(endedAt),
    alerts: firings.map((firing) => ({
      alert: firing.alert,
      severity: firing.severity,
      subject: firing.subject === '' ? null : firing.subject,
      beganAt: utc(firing.beganAt),
      firedAt: utc(firing.firedAt),
      endedAt: firing.endedAt === null ? null : utc(firing.endedAt),
      says: firing.says,
    })),
  })),
  lines: look.entries,
  unreadable: look.unreadable,
  unheard: look.unheard,
  knowsOwn: look.knowsOwn,
})

/** To the second: it is looked at every five. */
const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`
