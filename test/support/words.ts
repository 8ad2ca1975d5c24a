import { PassThrough } from 'node:stream'
import { loadProgram } from '../../src/cli/program.ts'
import { type CommandModel, describeCommand, withSubcommands } from '../../src/cli/help/completion-model.ts'
import { systemClock } from '../../src/core/clock.ts'

/** The program with all its commands. */
export const completeProgram = async () => {
  const stream = new PassThrough()
  const streams = { stdin: stream, stdout: stream, stderr: stream }
  const { signal } = new AbortController()
  return loadProgram({ ...streams, env: {}, clock: systemClock, signal }, () => undefined)
}

export const programWords = async (): Promise<CommandModel> => describeCommand(await completeProgram())

/** Every command by its whole path, and every option by its long name. */
export const namesIn = (program: CommandModel): readonly string[] => [
  ...new Set(
    withSubcommands(program).flatMap(({ path, options }) => [path, ...options.flatMap(({ names }) => names.slice(-1))]),
  ),
]
