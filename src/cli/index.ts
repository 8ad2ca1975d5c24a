import { Command, CommanderError } from 'commander'
import { ConfigError, ParseError, SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'
import { version } from '../version.ts'
import { balancesCommand } from './balances.ts'
import { bundleCommand } from './bundle.ts'
import { checkCommand } from './check.ts'
import { completionCommand } from './completion.ts'
import { configCommand } from './config.ts'
import { demoCommand } from './demo.ts'
import { eventsCommand } from './events.ts'
import { heightCommand } from './height.ts'
import { helpCommand } from './help.ts'
import type { ExitCode, Io } from './io.ts'
import { keysCommand } from './keys.ts'
import { keysReportCommand } from './keys-report.ts'
import { ledgerCommand } from './ledger.ts'
import { logsCommand } from './logs.ts'
import { maintenanceCommand } from './maintenance.ts'
import { manCommand } from './man.ts'
import { monlogCommand } from './monlog.ts'
import { parseCommand } from './parse.ts'
import { queryCommand } from './query.ts'
import { recoverCommand } from './recover.ts'
import { replayCommand } from './replay.ts'
import { runbookCommand } from './runbook.ts'
import { runCommand } from './run.ts'
import { serveQueryCommand } from './serve-query.ts'
import { simulateCommand } from './simulate.ts'
import { statusCommand } from './status.ts'
import { UsageError } from './usage-error.ts'
import { dress } from './words/dress.ts'
import { inOrder } from './words/groups.ts'

const COMMANDS = [
  runCommand,
  checkCommand,
  runbookCommand,
  statusCommand,
  monlogCommand,
  recoverCommand,
  eventsCommand,
  replayCommand,
  ledgerCommand,
  logsCommand,
  bundleCommand,
  configCommand,
  parseCommand,
  balancesCommand,
  queryCommand,
  heightCommand,
  serveQueryCommand,
  maintenanceCommand,
  keysCommand,
  keysReportCommand,
  demoCommand,
  simulateCommand,
  helpCommand,
  completionCommand,
  manCommand,
]

/** Runs one command line; never throws. `argv` without the interpreter and the script. */
export const runCli = async (argv: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = 0
  const program = createProgram(io, (given) => {
    code = given
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (thrown) {
    return explain(asError(thrown), io)
  }
}

/** Every command; help, manual and completion are made of what this says. */
export const createProgram = (io: Io, exit: (code: ExitCode) => void): Command => {
  const program = new Command('chain-agent')
    .description(
      'Watches a blockchain node from its own host and tells Prometheus and the operator.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', NOTES)
  for (const command of inOrder(COMMANDS.map((create) => create(io, exit)))) {
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
