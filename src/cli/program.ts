import { Command, CommanderError } from 'commander'
import { ConfigError, ParseError, SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'
import { version } from '../core/version.ts'
import type { ExitCode, Io } from './io.ts'
import { UsageError } from './usage-error.ts'
import { dress } from './help/dress.ts'
import { inOrder } from './help/groups.ts'

type CreateCommand = (io: Io, exit: (code: ExitCode) => void) => Command

/** Each command is loaded when it is used: the modules of all of them take a second of CPU. */
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
  help: async () => (await import('./help/command.ts')).helpCommand,
  completion: async () => (await import('./help/completion-command.ts')).completionCommand,
  man: async () => (await import('./help/man-command.ts')).manCommand,
}

/** Commands that describe the whole program. */
const DESCRIBE_ALL = new Set(['help', 'completion', 'man'])

/** The commands that a command line can reach; all where the first word is none, so that help lists them. */
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
    return explain(asError(thrown), io)
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
      'Watches a blockchain node from its own host and tells Prometheus and the operator.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', NOTES)
  for (const command of inOrder(creates.map((create) => create(io, exit)))) {
    program.addCommand(command)
  }
  dress(program, io)
  return program
}

const NOTES = `
Exit codes: check and monlog end with 0 when the node is well, 1 when something asks for attention, and
2 when the node does not do its work or that cannot be told. The others end with 0 when it is done, 1
when it could not be done, and 2 when it was asked for in a wrong way; where one differs, its help says so.

Examples:
  chain-agent check                        # verdict, evidence, what to do
  chain-agent status --watch               # the node at a glance, refreshed
  chain-agent monlog --watch               # the last minute of consensus, refreshed
  chain-agent logs bft -f                  # what consensus writes, secrets redacted
  chain-agent maintenance start 30m --reason upgrade
  chain-agent help status                  # how a command is used`

const explain = (error: Error, io: Io): ExitCode => {
  // Commander has already said what was wrong; help and version end this way, too.
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
