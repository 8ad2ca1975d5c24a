import { wrap } from '../terminal/layout.ts'
import type { Style } from '../terminal/style.ts'
import type { CommandModel, OptionTerm, Section, Term } from './command-model.ts'

/** Columns if the output is not a terminal: it is probably shown in a pager. */
const DEFAULT_WIDTH = 80
/** Longer lines are hard to read. */
const MAX_WIDTH = 100
/** A longer term gets a line of its own. */
const MAX_TERM = 26
/** With fewer columns left for it, a description is printed below its term. */
const MIN_DESCRIPTION = 28

/** The help of a command, as wide as the terminal. */
export const renderHelp = (words: CommandModel, terminal: Style): string => {
  const style = {
    ...terminal,
    width: Math.min(terminal.width ?? DEFAULT_WIDTH, MAX_WIDTH),
    column: columnFor([...words.arguments, ...words.options, ...words.commands.map(asTerm)]),
  }
  const own = words.options.filter(({ group }) => group === undefined)
  const isProgram = words.path === ''
  const parts = [
    [`${style.paint('strong', 'Usage:')} ${words.usage}`],
    wrap(`${capital(words.description)}.`.replace(/\.\.$/, '.'), style),
    items('Arguments:', describedOnly(words.arguments), style),
    ...(isProgram ? [] : [items('Options:', own, style)]),
    ...groupsOf(words.commands, ({ group }) => group || 'Commands:').map(([heading, commands]) =>
      items(heading, commands.map(asTerm), style),
    ),
    ...(isProgram ? [items('Options:', own, style)] : []),
    ...groupsOf(
      words.options.filter(({ group }) => group !== undefined),
      ({ group }) => group ?? '',
    ).map(([heading, options]) => items(heading, options, style)),
    ...words.notes.map((section) => renderSection(section, style)),
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => style.plain(lines.join('\n')))
    .join('\n\n')}\n`
}

const describedOnly = (terms: readonly Term[]): readonly Term[] => terms.filter(({ description }) => description !== '')

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const asTerm = ({ name, summary, arguments: taken }: CommandModel): Term => ({
  term: [name, ...taken.map(({ term }) => term)].join(' '),
  description: summary,
  argument: undefined,
})

/** Groups items by heading, in the order of their first occurrence. */
export const groupsOf = <Item>(
  all: readonly Item[],
  headingOf: (item: Item) => string,
): readonly (readonly [heading: string, items: readonly Item[]])[] =>
  [...new Set(all.map(headingOf))].map((heading) => [heading, all.filter((item) => headingOf(item) === heading)])

interface HelpStyle extends Style {
  readonly width: number
  /** The column of the descriptions. */
  readonly column: number
}

const columnFor = (terms: readonly Pick<Term, 'term'>[]): number =>
  4 + Math.max(0, ...terms.map(({ term }) => term.length).filter((size) => size <= MAX_TERM))

const items = (
  heading: string,
  terms: readonly Pick<OptionTerm, 'term' | 'description'>[],
  style: HelpStyle,
): readonly string[] => {
  if (terms.length === 0) return []
  const isNarrow = style.width - style.column < MIN_DESCRIPTION
  const column = isNarrow ? 6 : style.column
  return [
    style.paint('strong', heading),
    ...terms.flatMap(({ term, description }) => {
      const below = wrap(description, style, ' '.repeat(column))
      if (description === '') return [`  ${term}`]
      if (isNarrow || term.length + 4 > column) return [`  ${term}`, ...below]
      return [`  ${term}`.padEnd(column) + (below[0] ?? '').trimStart(), ...below.slice(1)]
    }),
  ]
}

const renderSection = ({ title, kind, lines }: Section, style: HelpStyle): readonly string[] => {
  if (kind === 'prose') return wrap([...(title ? [`${title}:`] : []), ...lines].join(' '), style)
  return [
    ...(title === undefined ? [] : [style.paint('strong', `${title}:`)]),
    ...(title === 'Examples' ? fitExamples(lines, style) : lines.flatMap((line) => fitLine(line, style))),
  ]
}

/** Aligns comments in one column; a long comment is wrapped in that column. */
const fitExamples = (lines: readonly string[], style: HelpStyle): readonly string[] => {
  const examples = lines.map((line) => ({ line, parts: line.split(/\s{2,}#\s*/) }))
  const commented = examples.flatMap(({ parts: [command = '', remark] }) =>
    remark === undefined ? [] : [command.length],
  )
  const column = 4 + Math.max(0, ...commented)
  if (style.width - column < MIN_DESCRIPTION) return lines.flatMap((line) => fitCommand(line, style))
  return examples.flatMap(({ line, parts: [command = '', remark] }) => {
    if (remark === undefined) return fitCommand(line, style)
    return wrap(remark, style, `${' '.repeat(column)}# `).map((text, index) =>
      index === 0 ? `  ${command}`.padEnd(column) + text.trimStart() : text,
    )
  })
}

/** A long command line is continued after a backslash, so that it can be copied. */
const fitCommand = (line: string, style: HelpStyle): readonly string[] => {
  if (line.length + 2 <= style.width) return [`  ${line}`]
  const [command = '', remark] = line.split(/\s{2,}#\s*/)
  const closer = `  ${command}  # ${remark ?? ''}`
  if (remark !== undefined && closer.length <= style.width) return [closer]
  const parts = wrap(command, { width: style.width - 8 })
  return [
    ...(remark === undefined ? [] : wrap(remark, { width: style.width - 2 }, '  # ')),
    ...parts.map((part, index) => {
      const end = index < parts.length - 1 ? ' \\' : ''
      return `${index === 0 ? '  ' : '      '}${part}${end}`
    }),
  ]
}

/** Wraps a row of a list below its second column, or with an indent. */
const fitLine = (line: string, style: HelpStyle): readonly string[] => {
  if (line.length + 2 <= style.width) return [`  ${line}`]
  const column = /^\s*\S.*?\s{2,}/.exec(line)?.[0].length ?? 0
  const indent = column > 0 && column < style.width / 2 ? column : 4
  const [first = '', ...rest] = wrap(line, { width: style.width - 2 }, '  ')
  const below = wrap(rest.map((text) => text.trim()).join(' '), style, ' '.repeat(indent + 2))
  return [first, ...below]
}
