import { Command, CommanderError } from 'commander'
import { ConfigError, ParseError, SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'
import { version } from '../core/version.ts'
import { type ExitCode, type Io, UsageError } from './io.ts'
import { applyHelpFormat } from './help/help-format.ts'

type CreateCommand = (io: Io, exit: (code: ExitCode) => void) => Command

/** Each command is loaded when it is used: loading all modules takes a second of CPU time. */
const COMMANDS: Readonly<Record<string, () => Promise<CreateCommand>>> = {
  run: async () => (await import('../commands/run/command.ts')).runCommand,
  check: async () => (await import('../commands/check/command.ts')).checkCommand,
  runbook: async () => (await import('../commands/runbook/command.ts')).runbookCommand,
  status: async () => (await import('../commands/status/command.ts')).statusCommand,
  monlog: async () => (await import('../commands/monlog/command.ts')).monlogCommand,
  recover: async () => (await import('../commands/recover/command.ts')).recoverCommand,
  events: async () => (await import('../commands/events/command.ts')).eventsCommand,
  replay: async () => (await import('../commands/replay/command.ts')).replayCommand,
  ledger: async () => (await import('../commands/ledger/command.ts')).ledgerCommand,
  logs: async () => (await import('../commands/logs/command.ts')).logsCommand,
  bundle: async () => (await import('../commands/bundle/command.ts')).bundleCommand,
  config: async () => (await import('../commands/config/command.ts')).configCommand,
  parse: async () => (await import('../commands/parse/command.ts')).parseCommand,
  balances: async () => (await import('../commands/balances/command.ts')).balancesCommand,
  query: async () => (await import('../commands/query/command.ts')).queryCommand,
  height: async () => (await import('../commands/height/command.ts')).heightCommand,
  'serve-query': async () => (await import('../commands/serve-query/command.ts')).serveQueryCommand,
  maintenance: async () => (await import('../commands/maintenance/command.ts')).maintenanceCommand,
  keys: async () => (await import('../commands/keys/command.ts')).keysCommand,
  'keys-report': async () => (await import('../commands/keys-report/command.ts')).keysReportCommand,
  demo: async () => (await import('../commands/demo/command.ts')).demoCommand,
  simulate: async () => (await import('../commands/simulate/command.ts')).simulateCommand,
  help: async () => (await import('./help/commands.ts')).helpCommand,
  completion: async () => (await import('./help/commands.ts')).completionCommand,
  man: async () => (await import('./help/commands.ts')).manCommand,
}

/** Commands that describe the whole program. */
const DESCRIBE_ALL = new Set(['help', 'completion', 'man'])

/** The commands to load for a command line; all if the first word is not a command, so that help lists them. */
const reachable = ([first = '']: readonly string[]): readonly string[] => {
  if (first === '-V' || first === '--version') return []
  return Object.hasOwn(COMMANDS, first) && !DESCRIBE_ALL.has(first)
    ? [first]
    : Object.keys(COMMANDS)
}

/** Runs one command line; never throws. `argv` without the interpreter and the script. */
export const runCli = async (argv: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = 0
  const exit = (given: ExitCode): void => {
    code = given
  }
  try {
    const program = await loadProgram(io, exit, reachable(argv))
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (thrown) {
    return printError(asError(thrown), io)
  }
}

/** The program with these commands, or with all: help, manual and completion are rendered from it. */
export const loadProgram = async (
  io: Io,
  exit: (code: ExitCode) => void,
  names: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> => {
  const creates = await Promise.all(names.flatMap((name) => COMMANDS[name]?.() ?? []))
  const program = new Command('chain-agent')
    .description(
      'Monitoring agent for blockchain nodes: runs on the host of the node and exports Prometheus metrics, with an operator CLI.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', NOTES)
  for (const command of inGroups(creates.map((create) => create(io, exit)))) {
    program.addCommand(command)
  }
  applyHelpFormat(program, io)
  return program
}

const NOTES = `
Exit codes: check and monlog exit with 0 if the node is healthy, 1 if something needs attention, and 2 if the
node does not work or its status is unknown. The other commands exit with 0 on success, 1 on failure, and 2 on
a usage error; the help of a command lists its exceptions.

Examples:
  chain-agent check                        # health verdict, evidence, what to do
  chain-agent status --watch               # overview of the node, refreshed
  chain-agent monlog --watch               # the last minute of consensus, refreshed
  chain-agent logs bft -f                  # log of consensus, secrets redacted
  chain-agent maintenance start 30m --reason upgrade
  chain-agent help status                  # usage of a command`

const printError = (error: Error, io: Io): ExitCode => {
  // Commander has already printed the error. It also throws for --help and --version, with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    io.stderr.write(`error: ${error.message}\n`)
    return 2
  }
  if (error instanceof ConfigError) {
    io.stderr.write(`The configuration cannot be used; nothing was started.\n${error.message}\n`)
    return 2
  }
  const isOurs = error instanceof SourceError || error instanceof ParseError
  io.stderr.write(
    isOurs
      ? `${error.message}\n`
      : `This is a bug of chain-agent: ${error.stack ?? error.message}\n`,
  )
  return 1
}

/** The commands by heading, the most urgent first. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Diagnose: current status and what to do': ['check', 'status', 'monlog', 'recover', 'runbook'],
  'Inspect: logs and history': ['ledger', 'logs', 'events', 'replay'],
  'Query: contract events from a query service': ['balances', 'query', 'height', 'serve-query'],
  'Operate: maintenance, support and keys': ['maintenance', 'bundle', 'keys', 'keys-report'],
  'Run: the agent': ['run', 'config'],
  'Simulate: without a node': ['demo', 'simulate', 'parse'],
  'Help:': ['help', 'completion', 'man'],
}

const ORDER = Object.values(GROUPS).flat()

const rank = (command: Command): number => {
  const at = ORDER.indexOf(command.name())
  return at < 0 ? ORDER.length : at
}

const inGroups = (commands: readonly Command[]): readonly Command[] =>
  commands
    .toSorted((a, b) => rank(a) - rank(b))
    .map((command) => command.helpGroup(headingOf(command.name())))

const headingOf = (name: string): string => {
  const [heading = 'More:'] = Object.entries(GROUPS).find(([, names]) => names.includes(name)) ?? []
  return heading.endsWith(':') ? heading : `${heading}:`
}
