import { PassThrough } from 'node:stream'
import { systemClock } from '../../core/clock.ts'
import { loadProgram } from '../program.ts'
import { wrap } from '../terminal/layout.ts'
import {
  type CommandModel,
  describeCommand,
  ENVIRONMENT,
  type Section,
  sharedOptions,
  type Term,
  withSubcommands,
} from './command-model.ts'
import { capital, groupsOf } from './help-page.ts'
import { renderManual } from './manual.ts'

/** The text of docs/cli.md. */
export const renderCliPage = async (): Promise<string> => {
  const program = await allCommands()
  return `${[
    '# The command line',
    '',
    ...paragraph(
      'Generated from the commands by `npm run generate`, like `chain-agent help`, `chain-agent man` and the completion scripts for bash and zsh.',
    ),
    '',
    '| group | command | what it does |',
    '|---|---|---|',
    ...groupsOf(program.commands, ({ group }) => group).flatMap(([heading, commands]) =>
      commands.map(
        ({ name, summary }, index) =>
          `| ${index === 0 ? heading.replace(/:$/, '') : ''} | [${name}](#${name}) | ${cell(summary)} |`,
      ),
    ),
    ...program.notes.flatMap(section),
    ...program.commands.flatMap((command) => withSubcommands(command).flatMap(chapter)),
    '',
    '## Options of the program',
    ...table('option', program.options),
    '',
    '## Options of the configuration',
    '',
    'Every command that reads the configuration has these options.',
    ...table('option', sharedOptions(program)),
    '',
    '## Environment',
    ...table(
      'variable',
      ENVIRONMENT.map(([term, description]) => ({ term, description })),
    ),
  ].join('\n')}\n`
}

/** The text of docs/chain-agent.1. */
export const renderManualPage = async (): Promise<string> => renderManual(await allCommands())

const allCommands = async (): Promise<CommandModel> => {
  const stream = new PassThrough()
  const streams = { stdin: stream, stdout: stream, stderr: stream }
  const { signal } = new AbortController()
  return describeCommand(await loadProgram({ ...streams, env: {}, clock: systemClock, signal }, () => {}))
}

const chapter = (words: CommandModel): readonly string[] => {
  const own = words.options.filter(({ group }) => group === undefined)
  const hasShared = words.options.length > own.length
  const documented = words.arguments.filter(({ description }) => description !== '')
  return [
    '',
    `${'#'.repeat(words.path.split(' ').length + 1)} ${words.path}`,
    '',
    '```text',
    words.usage,
    '```',
    '',
    `${capital(cell(words.description))}.`.replace(/\.\.$/, '.'),
    ...(documented.length > 0 ? table('argument', documented) : []),
    ...table(
      'option',
      own.filter(({ names }) => !names.includes('--help')),
    ),
    ...(hasShared ? ['', 'It also has the [options of the configuration](#options-of-the-configuration).'] : []),
    ...words.notes.flatMap(section),
  ]
}

const table = (what: string, terms: readonly Pick<Term, 'term' | 'description'>[]): readonly string[] =>
  terms.length === 0
    ? []
    : [
        '',
        `| ${what} | meaning |`,
        '|---|---|',
        ...terms.map(({ term, description }) => `| \`${cell(term)}\` | ${cell(description)} |`),
      ]

const paragraph = (text: string): readonly string[] => wrap(text, { width: 130 })

const section = ({ title, kind, lines }: Section): readonly string[] => {
  const heading = title === undefined ? [] : [`${title}:`]
  if (kind === 'prose') return ['', ...paragraph([...heading, ...lines].join(' '))]
  const language = title === 'Examples' ? 'sh' : 'text'
  return ['', ...(title === undefined ? [] : [...heading, '']), `\`\`\`${language}`, ...lines, '```']
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')
