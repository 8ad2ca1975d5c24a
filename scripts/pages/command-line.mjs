// docs/reference/cli.md and docs/reference/chain-agent.1: the help of every command.
import { PassThrough } from 'node:stream'
import { captureHelp, commandLineOf, splitShared } from '../../.cache/modules/src/cli/help/help.js'
import { ENVIRONMENT, renderManual } from '../../.cache/modules/src/cli/help/commands.js'
import { loadProgram } from '../../.cache/modules/src/cli/program.js'
import { systemClock } from '../../.cache/modules/src/core/clock.js'

const loadCommands = () => {
  const stream = new PassThrough()
  const streams = { stdin: stream, stdout: stream, stderr: stream }
  const { signal } = new AbortController()
  return loadProgram({ ...streams, env: { LANG: 'C.UTF-8' }, clock: systemClock, signal }, () => {})
}

export const renderManualPage = async () => renderManual(await loadCommands())

export const renderCliPage = async () => {
  const program = await loadCommands()
  const helps = commandsOf(program).map((command) => ({ command, ...splitShared(captureHelp(command)) }))
  return `${[
    '# The command line',
    '',
    'Generated from the commands by `npm run generate`: the output of `chain-agent help COMMAND`. `chain-agent man` prints the manual',
    'page, and `chain-agent completion` the completion scripts for bash and zsh.',
    '',
    '| group | command | what it does |',
    '|---|---|---|',
    ...program.commands.map((command, index) => {
      const group = command.helpGroup().slice(0, -1)
      const isFirst = program.commands[index - 1]?.helpGroup() !== command.helpGroup()
      return `| ${isFirst ? group : ''} | [${command.name()}](#${command.name()}) | ${command.description()} |`
    }),
    ...textBlock(captureHelp(program)),
    ...helps.flatMap(({ command, own, shared }) => {
      const [, ...path] = commandLineOf(command).split(' ')
      return [
        '',
        `${'#'.repeat(path.length + 1)} ${path.join(' ')}`,
        ...textBlock(own),
        ...(shared === undefined
          ? []
          : ['', 'It also has the [options of the configuration](#options-of-the-configuration).']),
      ]
    }),
    '',
    '## Options of the configuration',
    '',
    'Every command that reads the configuration has these options.',
    ...textBlock(helps.find(({ shared }) => shared !== undefined).shared),
    '',
    '## Environment',
    '',
    '| variable | meaning |',
    '|---|---|',
    ...ENVIRONMENT.map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
  ].join('\n')}\n`
}

const commandsOf = ({ commands }) => commands.flatMap((command) => [command, ...commandsOf(command)])

const textBlock = (text) => ['', '```text', text.trimEnd(), '```']
