import { Command, type OptionValues } from 'commander'
import type { CommandContext, ExitCode, Io } from './io.ts'

/** Creates a command for one command line. */
export type CreateCommand = (name: string, io: Io, exit: (code: ExitCode) => void) => Command

type Action<Options> = (context: CommandContext<Options>) => Promise<void> | void

export interface CommandDefinition<Options extends OptionValues> {
  /** The summary of a subcommand; the summary of a command is in the table of program.ts. */
  readonly summary?: string
  /** Adds options and arguments; the action receives both by name. */
  readonly options?: (command: Command, io: Io) => Command
  /** The text after the options: details, exit codes, examples. */
  readonly help?: string
  /** Loads the action when the command runs: `--help` must load neither the configuration nor the work. */
  readonly load?: () => Promise<Action<Options>> | Action<Options>
  readonly subcommands?: () => Readonly<Record<string, CreateCommand>>
}

export const defineCommand =
  <Options extends OptionValues>({
    summary = '',
    options,
    help,
    load,
    subcommands = () => ({}),
  }: CommandDefinition<Options>): CreateCommand =>
  (name, io, exit) => {
    const command = new Command(name).description(summary)
    options?.(command, io)
    for (const [word, create] of Object.entries(subcommands())) command.addCommand(create(word, io, exit))
    if (help !== undefined) command.addHelpText('after', `\n${help}`)
    if (!load) return command
    return command.option('--no-color', 'without colour; the same as NO_COLOR=1').action(async () => {
      const act = await load()
      const given = { ...command.opts<Options>(), ...argumentsOf(command) }
      await act({ io: given['color'] === false ? withoutColor(io) : io, exit, command, options: given })
    })
  }

const withoutColor = (io: Io): Io => ({ ...io, env: { ...io.env, NO_COLOR: '1', FORCE_COLOR: undefined } })

/** The arguments that were given, by name. */
const argumentsOf = ({ registeredArguments, processedArgs }: Command): Readonly<Record<string, unknown>> => {
  const values: readonly unknown[] = processedArgs
  return Object.fromEntries(
    registeredArguments.flatMap((argument, at) => (values[at] === undefined ? [] : [[argument.name(), values[at]]])),
  )
}
