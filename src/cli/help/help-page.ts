import { wrap } from '../terminal/layout.ts'
import type { Style } from '../terminal/style.ts'
import type { OptionTerm, Term, Words } from './describe.ts'
import type { Section } from './notes.ts'

/** A help that is read in a pipe is read in a pager. */
const USUAL = 80
/** Longer lines are hard to read. */
const WIDEST = 100
/** A longer term stands on a line of its own. */
const LONGEST_TERM = 26
/** Where less is left for a description, it stands below its term. */
const LEAST_BESIDE = 28

/** The help of a command, as wide as the reader's terminal. */
export const renderHelp = (words: Words, terminal: Style): string => {
  const style = {
    ...terminal,
    width: Math.min(terminal.width ?? USUAL, WIDEST),
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

const describedOnly = (terms: readonly Term[]): readonly Term[] =>
  terms.filter(({ description }) => description !== '')

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const asTerm = ({ name, summary, arguments: taken }: Words): Term => ({
  term: [name, ...taken.map(({ term }) => term)].join(' '),
  description: summary,
  takes: undefined,
})

/** In the order in which each heading comes first. */
export const groupsOf = <Item>(
  all: readonly Item[],
  headingOf: (item: Item) => string,
): readonly (readonly [heading: string, items: readonly Item[]])[] =>
  [...new Set(all.map(headingOf))].map((heading) => [
    heading,
    all.filter((item) => headingOf(item) === heading),
  ])

interface Sized extends Style {
  readonly width: number
  /** Where descriptions begin. */
  readonly column: number
}

const columnFor = (terms: readonly Pick<Term, 'term'>[]): number =>
  4 + Math.max(0, ...terms.map(({ term }) => term.length).filter((size) => size <= LONGEST_TERM))

const items = (
  heading: string,
  terms: readonly Pick<OptionTerm, 'term' | 'description'>[],
  style: Sized,
): readonly string[] => {
  if (terms.length === 0) return []
  const isNarrow = style.width - style.column < LEAST_BESIDE
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

const renderSection = ({ title, kind, lines }: Section, style: Sized): readonly string[] => {
  if (kind === 'prose') return wrap([...(title ? [`${title}:`] : []), ...lines].join(' '), style)
  return [
    ...(title === undefined ? [] : [style.paint('strong', `${title}:`)]),
    ...(title === 'Examples'
      ? fitExamples(lines, style)
      : lines.flatMap((line) => fitLine(line, style))),
  ]
}

/** Comments have one column; a comment that is too long continues in it. */
const fitExamples = (lines: readonly string[], style: Sized): readonly string[] => {
  const examples = lines.map((line) => ({ line, parts: line.split(/\s{2,}#\s*/) }))
  const commented = examples.flatMap(({ parts: [command = '', remark] }) =>
    remark === undefined ? [] : [command.length],
  )
  const column = 4 + Math.max(0, ...commented)
  if (style.width - column < LEAST_BESIDE) return lines.flatMap((line) => fitCommand(line, style))
  return examples.flatMap(({ line, parts: [command = '', remark] }) => {
    if (remark === undefined) return fitCommand(line, style)
    return wrap(remark, style, `${' '.repeat(column)}# `).map((text, index) =>
      index === 0 ? `  ${command}`.padEnd(column) + text.trimStart() : text,
    )
  })
}

/** A command line that is too long goes on after a backslash, so that it can still be copied. */
const fitCommand = (line: string, style: Sized): readonly string[] => {
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

/** A row of a list: what does not fit goes on below its second column, or a little indented. */
const fitLine = (line: string, style: Sized): readonly string[] => {
  if (line.length + 2 <= style.width) return [`  ${line}`]
  const column = /^\s*\S.*?\s{2,}/.exec(line)?.[0].length ?? 0
  const indent = column > 0 && column < style.width / 2 ? column : 4
  const [first = '', ...rest] = wrap(line, { width: style.width - 2 }, '  ')
  const below = wrap(rest.map((text) => text.trim()).join(' '), style, ' '.repeat(indent + 2))
  return [first, ...below]
}
