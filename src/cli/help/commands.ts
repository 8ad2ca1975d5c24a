import { Argument, Command } from 'commander'
import { version } from '../../core/package.ts'
import { hintFor } from '../../core/suggest.ts'
import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import type { CommandContext, Io } from '../../terminal/io.ts'
import { inColumns } from '../../terminal/style.ts'
import { applyHelpFormat, captureHelp, commandLineOf } from './help.ts'

/** `chain-agent help COMMAND`: the same as `chain-agent COMMAND --help`. */
export const helpCommand = defineCommand({
  options: (command) => command.argument('[command...]', 'the command and its subcommand, or configuration'),
  help: `Exit codes: 0 it was printed, 2 usage error.

Examples:
  chain-agent help
  chain-agent help status
  chain-agent help maintenance start
  chain-agent help configuration`,
  load: () => printHelp,
})

const printHelp = ({ io, command, options }: CommandContext<{ readonly command: readonly string[] }>): void => {
  if (options.command.join(' ') === 'configuration') configurationHelp(io).help()
  let shown = command.parent ?? command
  for (const word of options.command) {
    const names = shown.commands.map((one) => one.name())
    const found = shown.commands.find((one) => one.name() === word)
    const hint = hintFor(word, names, `Commands: ${names.join(', ')}`)
    if (!found) shown.error(`error: unknown command '${word}'${hint}`)
    else shown = found
  }
  shown.help()
}

/** Environment variables. */
const ENVIRONMENT = [
  [
    'CHAIN_AGENT_CONFIG',
    'the configuration file if --config names none; default /etc/chain-agent/config.yaml if it exists',
  ],
  ['CHAIN_AGENT_*', 'any configuration key: CHAIN_AGENT_RPC_INTERVAL is rpc.interval'],
  ['CHAIN_AGENT_API_KEY', 'the API key for a query service, if there is no --api-key-file'],
  ['NO_COLOR', 'if it is not empty, the output has no colour'],
  ['FORCE_COLOR', 'if it is not empty, 0 or false, the output has colour even in a pipe'],
  ['COLUMNS', 'the line width if the output is not a terminal'],
  ['LC_ALL, LC_CTYPE, LANG', 'if the first that is set is not UTF-8, the output is ASCII'],
] as const

/** ASCII only, and as wide as a manual page next to its margin. */
const PLAIN = inColumns(72)

/** `chain-agent help configuration`: what each command that reads the configuration accepts. */
const configurationHelp = (io: Io): Command => {
  const topic = configOptions(new Command('chain-agent'))
    .usage('COMMAND [options]')
    .description('Options of each command that reads the configuration, and environment variables')
    .addHelpText(
      'after',
      `
Environment:
${PLAIN.pairs(ENVIRONMENT).join('\n')}

An option has precedence over the environment, and the environment over
the file. docs/reference/configuration.md has every key; \`chain-agent
config\` prints the effective values and where each comes from.`,
    )
  for (const option of topic.options) option.helpGroup('Options:')
  applyHelpFormat(topic, io)
  return topic
}

/** `chain-agent completion SHELL`: a completion script for the shell. */
export const completionCommand = defineCommand({
  options: (command) =>
    command
      .addArgument(new Argument('<shell>', 'the shell').choices(['bash']))
      .argument('[words...]', 'after --, words of a command line: prints what may come next, for the script'),
  help: `Completes commands, options, services, scenarios, configuration keys and file
names. The script runs the program at each completion: it is the same for all
versions.

Exit codes: 0 it was printed, 2 usage error.

Examples:
  source <(chain-agent completion bash)
  chain-agent completion bash | sudo tee /usr/share/bash-completion/completions/chain-agent > /dev/null`,
  load: () => printCompletion,
})

type CompletionContext = CommandContext<{ readonly words: readonly string[] }>

const printCompletion = async ({ io, exit, command, options }: CompletionContext): Promise<void> => {
  const { words } = options
  const { complete, SCRIPT } = await import('./completion.ts')
  if (words.length === 0) io.stdout.write(SCRIPT)
  else {
    const found = await complete(command.parent ?? command, words)
    io.stdout.write([found.kind, ...found.words].map((line) => `${line}\n`).join(''))
  }
  exit(0)
}

/** `chain-agent man`: the manual page, in roff. */
export const manCommand = defineCommand({
  help: `Exit codes: 0 it was printed, 2 usage error.

Examples:
  chain-agent man | man -l -
  chain-agent man | sudo tee /usr/local/share/man/man1/chain-agent.1 > /dev/null`,
  load: () => printManual,
})

/** The page belongs to a version; `.TH` needs a date, and this is the date of the first page. */
const DAY = '2026-11-21'

/** The manual page, in the macros of man(7): the help of the program and of each command. */
const printManual = ({ io, exit, command }: CommandContext<object>): void => {
  const program = command.parent ?? command
  const page = [
    String.raw`.\" Written by "chain-agent man".`,
    `.TH CHAIN\\-AGENT 1 ${DAY} "chain\\-agent ${version}" "User Commands"`,
    '.SH NAME',
    String.raw`chain\-agent \- monitoring agent for blockchain nodes`,
    '.SH SYNOPSIS',
    String.raw`.B chain\-agent`,
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    ...verbatim(program),
    '.SH COMMANDS',
    ...commandsOf(program).flatMap((one) => [`.SS ${escape(commandLineOf(one))}`, ...verbatim(one)]),
    '.SH CONFIGURATION AND ENVIRONMENT',
    ...verbatim(configurationHelp(io)),
    '.SH SEE ALSO',
    '.BR journalctl (1),',
    '.BR systemctl (1)',
  ]
  io.stdout.write(`${page.join('\n')}\n`)
  exit(0)
}

const commandsOf = ({ commands }: Command): readonly Command[] =>
  commands.flatMap((command) => [command, ...commandsOf(command)])

/** The help of a command; a leading dot or quote would start a roff request. */
const verbatim = (command: Command): readonly string[] => [
  '.nf',
  ...captureHelp(command, PLAIN.width)
    .trim()
    .split('\n')
    .map((line) => escape(line).replace(/^(?=['.])/, String.raw`\&`)),
  '.fi',
]

const escape = (text: string): string =>
  PLAIN.plain(text)
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
