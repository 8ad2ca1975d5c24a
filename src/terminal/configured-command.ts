import type { OptionValues } from 'commander'
import type { LoadedConfig } from '../config/load.ts'
import { type ConfigOptions, configOptions } from './config-options.ts'
import { type CommandDefinition, type CreateCommand, defineCommand } from './define-command.ts'
import {
  type CommandContext,
  type InterruptedError,
  type SourceContext,
  sourceContext,
  unlessInterrupted,
} from './io.ts'
import { type OutputOptions, printResult, type Result } from './output.ts'
import { createProgress, type Progress } from './progress.ts'

/** What the action of a command that reads the configuration receives. */
export interface ConfiguredContext<Options>
  extends CommandContext<Options & ConfigOptions & OutputOptions>, LoadedConfig {
  /** What is needed to read the host. */
  readonly host: SourceContext & Pick<LoadedConfig, 'config'>
  /** Runs `work`, which shows its current step. An interruption ends the command: a partial result would look complete. */
  gather<T>(work: (show: Progress['show']) => Promise<T>, interruption?: InterruptedError): Promise<T>
  /** Prints the result as text or, with --json, as JSON. */
  print(result: Result): void
}

interface ConfiguredDefinition<Options extends OptionValues> extends Omit<CommandDefinition<Options>, 'load'> {
  /** What --json prints; without it there is no such option. */
  readonly json?: string
  /** A usage error on a watcher, which has no node. */
  readonly needsNode?: boolean
  readonly load: () => Promise<(context: ConfiguredContext<Options>) => Promise<void>>
}

/** Defines a command with the options of the configuration, which it reads before its action. */
export const defineConfigured = <Options extends OptionValues>({
  options = (command) => command,
  json,
  needsNode = false,
  load,
  ...definition
}: ConfiguredDefinition<Options>): CreateCommand =>
  defineCommand<Options & ConfigOptions & OutputOptions>({
    ...definition,
    options: (command, io) => {
      options(configOptions(command), io)
      return json === undefined ? command : command.option('--json', json)
    },
    load: async () => {
      const [act, { configOf, nodeConfigOf }] = await Promise.all([load(), import('./config.ts')])
      return async (context) => {
        const { io, options: given } = context
        const loaded = (needsNode ? nodeConfigOf : configOf)(io, given)
        const progress = createProgress(io)
        await act({
          ...context,
          ...loaded,
          host: { config: loaded.config, ...sourceContext(io) },
          gather: (work, interruption) =>
            unlessInterrupted(io, () => work(progress.show), interruption).finally(progress.end),
          print: (result) => printResult(context, result),
        })
      }
    },
  })
