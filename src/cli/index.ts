import { Command, CommanderError } from 'commander'
import { ConfigError, ParseError, SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'
import { version } from '../version.ts'
import { checkCommand } from './check.ts'
import { configCommand } from './config.ts'
import { demoCommand } from './demo.ts'
import type { ExitCode, Io } from './io.ts'
import { keysReportCommand } from './keys-report.ts'
import { maintenanceCommand } from './maintenance.ts'
import { parseCommand } from './parse.ts'
import { runCommand } from './run.ts'
import { simulateCommand } from './simulate.ts'
import { statusCommand } from './status.ts'

const COMMANDS = [
  runCommand,
  checkCommand,
  statusCommand,
  configCommand,
  parseCommand,
  maintenanceCommand,
  keysReportCommand,
  demoCommand,
  simulateCommand,
]

/** Runs one command line; never throws. `argv` without the interpreter and the script. */
export const runCli = async (argv: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = 0
  const program = new Command('chain-agent')
    .description(
      'Watches a blockchain node from its own host and tells Prometheus and the operator.',
    )
    .version(version)
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      '\nExit codes: 0 all is well, 1 it could not be done, 2 it was asked for in a wrong way.',
    )
  for (const create of COMMANDS) {
    program.addCommand(
      create(io, (given) => {
        code = given
      }),
    )
  }
  for (const command of withSubcommands(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (thrown) {
    return explain(asError(thrown), io)
  }
}

const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
]

const explain = (error: Error, io: Io): ExitCode => {
  // Commander has already said what was wrong; help and version end this way, too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
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
