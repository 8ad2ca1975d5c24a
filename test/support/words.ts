import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { commandLineOf } from '../../src/cli/help/help.ts'
import { loadProgram } from '../../src/cli/program.ts'
import { systemClock } from '../../src/core/clock.ts'

/** The program with all its commands. */
export const completeProgram = async () => {
  const stream = new PassThrough()
  const streams = { stdin: stream, stdout: stream, stderr: stream }
  const { signal } = new AbortController()
  return loadProgram({ ...streams, env: {}, clock: systemClock, signal }, () => undefined)
}

/** A command and all its subcommands, recursively. */
export const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
]

/** `maintenance start`; empty for the program. */
export const pathOf = (command: Command): string => commandLineOf(command).split(' ').slice(1).join(' ')

/** The flags of all options of a command, also of those that its help leaves to `help configuration`. */
export const flagsOf = ({ options }: Command): readonly string[] =>
  [...options.flatMap(({ short, long }) => [short, long]), '-h', '--help'].filter((flag) => flag !== undefined)
