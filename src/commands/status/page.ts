import type { ConfigSource } from '../../config/read-config.ts'
import type { Config } from '../../config/schema.ts'
import { describeSource } from '../../config/render.ts'
import { duration } from '../../core/format.ts'
import type { Verdict } from '../../health/verdict.ts'
import { pairs, wrap } from '../../cli/terminal/layout.ts'
import type { Style, Tone } from '../../cli/terminal/style.ts'
import { verdictLine } from '../../cli/terminal/verdict.ts'
import { type Fact, UNKNOWN } from './fact.ts'
import type { Group, Section, View } from './section.ts'
import { SECTIONS } from './sections.ts'
import { away, oneLine } from './texts.ts'
import { whyUnknown } from './why.ts'

export interface Page {
  readonly view: View
  readonly verdict: Verdict
  readonly listen: Config['listen']
  /** The configuration file of the command. */
  readonly source: ConfigSource | null
  /** What was asked for; empty is the overview. */
  readonly sections: readonly Section[]
}

/** All of it as lines. */
export const renderPage = (page: Page, style: Style): readonly string[] => [
  verdictLine(page.verdict, style),
  ...text(originOf(page), 'quiet', style),
  ...text(`Configuration: ${describeSource(page.source)}`, 'quiet', style),
  ...(page.sections.length === 0
    ? renderOverview(page, style)
    : page.sections.flatMap((section) => ['', ...renderSection(section, page.view, style)])),
]

/** A text of our own or of the node's, wrapped and then painted. */
const text = (words: string, tone: Tone, style: Style): readonly string[] =>
  wrap(style.plain(oneLine(words)), style).map((line) => style.paint(tone, line))

/** The same below the name of a section. */
const indented = (words: string, tone: Tone, style: Style): readonly string[] =>
  wrap(style.plain(oneLine(words)), style, '  ').map((line) => style.paint(tone, line))

/** Who told it, and how old the newest and the oldest of it is. */
const originOf = ({ view, listen }: Pick<Page, 'view' | 'listen'>): string => {
  const { host, port } = listen
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const { picture, at } = view
  if (picture.origin === 'node') {
    return `Asked the node itself: no agent answers at ${address}`
  }
  const times = picture.collectors.flatMap(({ enabled, lastSuccessAt, reading }) =>
    enabled && lastSuccessAt !== null && reading !== null ? [lastSuccessAt] : [],
  )
  if (times.length === 0) return `From the agent at ${address}, which has read nothing yet`
  const [newest, oldest] = [duration(at - Math.max(...times)), duration(at - Math.min(...times))]
  const age = newest === oldest ? newest : `${newest} to ${oldest}`
  return `From the agent at ${address}, ${age} old`
}

/** What else is found, beside the worst. */
const MOST_FINDINGS = 2
/** One screen, whatever a node calls itself. */
const LONGEST = 200

const renderOverview = ({ view, verdict }: Page, style: Style): readonly string[] => {
  const others = verdict.findings
    .filter(({ says, severity }) => severity !== 'info' && !verdict.sentence.includes(says))
    .map(({ says }) => says)
  const more = others.length - MOST_FINDINGS
  const also = [...others.slice(0, MOST_FINDINGS), ...(more > 0 ? [`${more} more`] : [])]
  const rows = SECTIONS.flatMap(({ name, label = name, summary }): readonly Row[] => {
    if (!summary) return []
    const told = summary(view)
    return [
      {
        label,
        text: told?.text.slice(0, LONGEST) ?? UNKNOWN,
        tone: told === null ? 'unknown' : told.tone,
      },
    ]
  })
  return [
    ...(also.length === 0 ? [] : text(`Also: ${also.join('; ')}.`, 'notice', style)),
    '',
    ...renderRows(rows, style),
    '',
    ...text(
      verdict.word === 'OK'
        ? 'More: chain-agent status SECTION, or all.'
        : 'What to do: chain-agent check. More: chain-agent status SECTION, or all.',
      'quiet',
      style,
    ),
  ]
}

const renderSection = (section: Section, view: View, style: Style): readonly string[] => {
  const title = section.name.replace('{prefix}', view.prefix)
  const told = section.groups.map((group) => ({ group, facts: group.facts(view) }))
  // One column for the whole section.
  const widest = Math.max(0, ...told.flatMap(({ facts }) => facts.map(widthOf)))
  return [
    style.paint('strong', title),
    ...told
      .filter(({ facts }) => facts.length > 0)
      .flatMap(({ group, facts }) => [
        ...indented(sourceOf(group, view), 'quiet', style),
        ...renderRows(facts, style, widest),
      ]),
    ...reasonsOf(section, view).flatMap((reason) => indented(reason, 'unknown', style)),
  ]
}

const widthOf = ({ label }: Row): number => label.length

const sourceOf = ({ from, by }: Group, view: View): string => {
  const at = from !== null && view.hasTold(from) ? view.told(from)?.lastSuccessAt : undefined
  return `by ${by}${typeof at === 'number' ? `, ${away(at, view.at)}` : ''}:`
}

/** Why parts of a section are unknown, a line each. */
export const reasonsOf = ({ groups }: Section, view: View): readonly string[] =>
  [...new Set(groups.flatMap(({ from }) => from ?? []))].flatMap((name) => {
    const why = whyUnknown(view.told(name))
    return why === null ? [] : [`${name}: ${why}`]
  })

type Row = Pick<Fact, 'label' | 'text' | 'tone'>

/** Rows are painted when they are laid out: colours are no letters, and would count as such. */
const renderRows = (rows: readonly Row[], style: Style, least = 0): readonly string[] => {
  const flat: Style = { ...style, paint: (_, words) => words }
  const column = Math.max(least, ...rows.map(widthOf))
  return rows.flatMap(({ label, text: value, tone }) => {
    const sign = tone === 'bad' || tone === 'notice' ? `${style.sign(tone)} ` : ''
    const padded = style.plain(oneLine(label)).padEnd(column)
    const shown = style.plain(oneLine(value))
    return placed(padded, `${sign}${shown}`, flat).map((line, index) => {
      const at = index === 0 ? line.indexOf(padded) + padded.length : 0
      const head = style.paint('quiet', line.slice(0, at))
      const rest = line.slice(at)
      return `${index === 0 ? head : ''}${tone === undefined ? rest : style.paint(tone, rest)}`
    })
  })
}

/** Beside its label, or below it where a word, such as a key, has no room there. */
const placed = (label: string, value: string, style: Style): readonly string[] => {
  const longest = Math.max(...value.split(' ').map((word) => word.length))
  const hasRoom = style.width === undefined || 4 + label.length + longest <= style.width
  return hasRoom ? pairs([[label, value]], style) : [`  ${label}`, ...wrap(value, style, '    ')]
}
