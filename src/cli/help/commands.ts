import { Argument, type Command } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import type { CommandContext } from '../../terminal/io.ts'
import { PassThrough } from 'node:stream'
import { version } from '../../core/package.ts'
import { wrap, createStyle } from '../../terminal/style.ts'
import { captureHelp, commandLineOf, splitShared } from './help.ts'

/** `chain-agent help COMMAND`: the same as `chain-agent COMMAND --help`. */
export const helpCommand = defineCommand({
  options: (command) => command.argument('[command...]', 'the command and its subcommand'),
  help: `Exit codes: 0 it was printed, 2 usage error.

Examples:
  chain-agent help
  chain-agent help status
  chain-agent help maintenance start`,
  load: () => printHelp,
})

const printHelp = ({ command, options }: CommandContext<{ readonly command: readonly string[] }>): void => {
  let shown = command.parent ?? command
  for (const word of options.command) {
    const names = shown.commands.map((one) => one.name())
    const found = shown.commands.find((one) => one.name() === word)
    const meant = closestMatch(word, names)
    const hint = meant === undefined ? `Commands: ${names.join(', ')}` : `Did you mean ${meant}?`
    if (!found) shown.error(`error: unknown command '${word}'\n(${hint})`)
    else shown = found
  }
  shown.help()
}

/** `chain-agent completion SHELL`: a completion script for the shell, generated from the commands. */
export const completionCommand = defineCommand({
  options: (command) => command.addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh'])),
  help: `Completes commands, options, services, scenarios, configuration keys and file
names. The script belongs to this version: generate it again after an upgrade.

Exit codes: 0 it was printed, 2 usage error.

Examples:
  source <(chain-agent completion bash)
  chain-agent completion bash | sudo tee /usr/share/bash-completion/completions/chain-agent > /dev/null
  chain-agent completion zsh | sudo tee /usr/local/share/zsh/site-functions/_chain-agent > /dev/null`,
  load: () => printCompletion,
})

const printCompletion = async ({
  io,
  exit,
  command,
  options,
}: CommandContext<{ readonly shell: 'bash' | 'zsh' }>): Promise<void> => {
  const { renderCompletion } = await import('./completion.ts')
  io.stdout.write(await renderCompletion(command.parent ?? command, options.shell))
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

const printManual = ({ io, exit, command }: CommandContext<object>): void => {
  io.stdout.write(renderManual(command.parent ?? command))
  exit(0)
}

/** The page belongs to a version; `.TH` needs a date, and this is the date of the first page. */
const DAY = '2026-11-21'
/** Fits into 80 columns next to the margin of a manual page. */
const WIDTH = 72

/** Environment variables. */
export const ENVIRONMENT = [
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

/** The manual page, in the macros of man(7): the help of the program and of each command. */
export const renderManual = (program: Command): string => {
  const helps = commandsOf(program).map((command) => ({ command, ...splitShared(captureHelp(command, WIDTH)) }))
  const shared = helps.find((help) => help.shared !== undefined)?.shared ?? ''
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
    ...verbatim(captureHelp(program, WIDTH)),
    '.SH COMMANDS',
    ...helps.flatMap(({ command, own, shared: hasShared }) => [
      `.SS ${escape(commandLineOf(command))}`,
      ...verbatim(own),
      ...(hasShared === undefined ? [] : ['.PP', 'It also has the options of the configuration.']),
    ]),
    '.SH CONFIGURATION OPTIONS',
    'Every command that reads the configuration has these options.',
    '.PP',
    ...verbatim(shared),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, description]) => ['.TP', `.B ${escape(name)}`, ...prose(description)]),
    '.SH SEE ALSO',
    '.BR journalctl (1),',
    '.BR systemctl (1)',
  ].join('\n')}\n`
}

const commandsOf = ({ commands }: Command): readonly Command[] =>
  commands.flatMap((command) => [command, ...commandsOf(command)])

const verbatim = (text: string): readonly string[] => [
  '.nf',
  ...text
    .trim()
    .split('\n')
    .map((line) => guard(escape(line))),
  '.fi',
]

/** Starts each sentence on a new line, as roff expects. */
const prose = (text: string): readonly string[] =>
  text
    .split(/(?<=[.;:!?])\s+/)
    .flatMap((sentence) => wrap(sentence, { plain, width: 72 }))
    .map((line) => guard(escape(line)))

/** ASCII only: the page is the same for terminals with and without UTF-8. */
const { plain } = createStyle({ stdout: new PassThrough(), env: {} })

const escape = (text: string): string =>
  plain(text)
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)

/** Escapes a leading dot or quote, which would start a roff request. */
const guard = (line: string): string => (/^['.]/.test(line) ? `\\&${line}` : line)
