import { PassThrough } from 'node:stream'
import { version } from '../../core/version.ts'
import { wrap } from '../terminal/layout.ts'
import { createStyle } from '../terminal/style.ts'
import {
  type CommandModel,
  ENVIRONMENT,
  type Section,
  sharedOptions,
  type Term,
  withSubcommands,
} from './command-model.ts'
import { capital } from './help-page.ts'

/** The page belongs to a version; `.TH` needs a date, and this is the date of the first page. */
const DAY = '2026-11-21'

/** The manual page, in the macros of man(7). */
export const renderManual = (program: CommandModel): string => {
  const commands = withSubcommands(program).filter(({ path }) => path !== '')
  const shared = sharedOptions(program)
  return `${[
    String.raw`.\" Written by "chain-agent man".`,
    `.TH CHAIN\\-AGENT 1 ${DAY} "chain\\-agent ${version}" "User Commands"`,
    '.SH NAME',
    String.raw`chain\-agent \- monitoring agent for blockchain nodes`,
    '.SH SYNOPSIS',
    String.raw`.B chain\-agent`,
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    ...prose(program.description),
    ...program.notes.filter(({ title }) => title === undefined).flatMap(paragraph),
    '.SH COMMANDS',
    ...commands.flatMap((words) => commandOf(words, shared)),
    '.SH CONFIGURATION OPTIONS',
    'Every command that reads the configuration has these options.',
    ...shared.flatMap(tagged),
    '.SH OPTIONS',
    ...program.options.flatMap(tagged),
    ...['Exit codes', 'Examples'].flatMap((wanted) =>
      program.notes
        .filter(({ title }) => title === wanted)
        .flatMap((section) => [`.SH ${wanted === 'Examples' ? 'EXAMPLES' : 'EXIT STATUS'}`, ...body(section)]),
    ),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([term, description]) => tagged({ term, description })),
    '.SH SEE ALSO',
    '.BR journalctl (1),',
    '.BR systemctl (1)',
  ].join('\n')}\n`
}

const commandOf = (words: CommandModel, shared: readonly Term[]): readonly string[] => {
  const own = words.options.filter(({ group }) => group === undefined)
  const hasShared = words.options.length > own.length && shared.length > 0
  return [
    `.SS ${escape(words.path)}`,
    ...prose(words.usage).map((line) => `.B ${line}`),
    '.PP',
    ...prose(`${capital(words.description)}.`),
    ...(hasShared ? ['It also has the options of the configuration.'] : []),
    ...words.arguments.filter(({ description }) => description !== '').flatMap(tagged),
    ...own.filter(({ names }) => !names.includes('--help')).flatMap(tagged),
    ...words.notes.flatMap(paragraph),
  ]
}

const tagged = ({ term, description }: Pick<Term, 'term' | 'description'>): readonly string[] => [
  '.TP',
  `.B ${escape(term)}`,
  ...prose(description === '' ? 'no value' : description),
]

const paragraph = (section: Section): readonly string[] => [
  '.PP',
  ...(section.title !== undefined ? [`.I ${escape(section.title)}:`] : []),
  ...(section.title !== undefined && section.kind === 'lines' ? ['.PP'] : []),
  ...body(section),
]

const body = ({ kind, lines }: Section): readonly string[] =>
  kind === 'prose'
    ? prose(lines.join(' '))
    : ['.RS 4', '.nf', ...lines.map((line) => guard(escape(line))), '.fi', '.RE']

/** Starts each sentence on a new line, as roff expects. */
const prose = (text: string): readonly string[] =>
  text
    .split(/(?<=[.;:!?])\s+/)
    .flatMap((sentence) => wrap(sentence, { width: 72 }))
    .map((line) => guard(escape(line)))

/** ASCII only: the page is the same for terminals with and without UTF-8. */
const { plain } = createStyle({ stdout: new PassThrough(), env: {} })

const escape = (text: string): string =>
  plain(text)
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)

/** Escapes a leading dot or quote, which would start a roff request. */
const guard = (line: string): string => (/^['.]/.test(line) ? `\\&${line}` : line)
