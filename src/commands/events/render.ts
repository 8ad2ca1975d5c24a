import type { Event } from '../../domain/event.ts'
import type { Events } from './events.ts'
import { wrap, type Style } from '../../terminal/style.ts'

interface EventPage extends Omit<Events, 'events'> {
  /** All matching events, and the newest of them, which are shown. */
  readonly wanted: readonly Event[]
  readonly shown: readonly Event[]
  readonly since?: number
  readonly collector?: string
  /** The number of first readings that are left out. */
  readonly hidden: number
}

/** The number of changes, their start and their source. */
export const headline = (page: EventPage, directory: string, style: Style): readonly string[] => {
  const { wanted, shown, since, oldestAt, origin, collector, hidden } = page
  const count = shown.length === 0 ? 'No change' : shown.length === 1 ? '1 change' : `${shown.length} changes`
  const of = collector === undefined ? '' : ` of ${collector}`
  const isCut = wanted.length > shown.length
  const newest = isCut ? `The newest ${shown.length} of ${wanted.length} changes` : count
  const from = isCut ? (shown[0]?.at ?? null) : (since ?? oldestAt)
  const reach = from === null ? '' : ` since ${utc(from)}`
  const by = origin === 'agent' ? ', from the running agent' : `, from ${directory}: no agent is running`
  const rest = hidden === 0 ? '' : `; ${hidden} first ${hidden === 1 ? 'reading' : 'readings'} not shown (--all)`
  return wrap(`${newest}${of}${reach}${by}${rest}`, style).map((line) => style.paint('strong', line))
}

const TONES = { critical: 'bad', warning: 'notice', info: undefined } as const

/** Time, mark, collector, subject, from → to: one line per event. */
export const eventLines = (events: readonly Event[], style: Style): readonly string[] =>
  events.flatMap((event) => {
    const { at, severity, collector, subject, from, to } = event
    const change = from === null ? to : `${from} \u2192 ${to}`
    const text = subject === null ? change : `${subject}: ${change}`
    const tone = TONES[severity]
    const mark = tone === undefined ? ' ' : style.sign(tone)
    const head = `${utc(at)} ${mark} ${collector.padEnd(11)}  `
    const isNarrow = style.width !== undefined && style.width - head.length < 30
    const room = isNarrow ? '    ' : ' '.repeat(head.length)
    const lines = wrap(text.replaceAll(/\s*\n\s*/g, ' '), style, room)
    const painted = lines.map((line) => (tone ? style.paint(tone, line.trimStart()) : line.trimStart()))
    const indent = (line: string): string => `${room}${line}`
    if (isNarrow) return [style.paint('quiet', head.trimEnd()), ...painted.map(indent)]
    const [first = '', ...rest] = painted
    return [`${style.paint('quiet', head)}${first}`, ...rest.map(indent)]
  })

/** To the millisecond, as in the file. */
const utc = (at: number): string => new Date(at).toISOString()
