import { parseConfigFile } from './file.ts'
import { readForks } from './forks.ts'
import { type Inputs, loadConfig, type Loaded } from './load.ts'
import { readText } from './read-text.ts'

/** The environment of the process; nobody else reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env

/** Loads the configuration that a command was given. Throws a ConfigError; nothing has been started then. */
export const readConfig = (
  path: string | undefined,
  { env, flags }: Pick<Inputs, 'env' | 'flags'>,
): Loaded => {
  // An empty variable is how a unit file says "none".
  const named = path ?? (env['CHAIN_AGENT_CONFIG'] || undefined)
  const file =
    named === undefined
      ? undefined
      : parseConfigFile(named, readText(named, 'the configuration file'))
  const loaded = loadConfig({ file, env, flags })
  readForks(loaded.config.version.forksFile) // a mistake in it is one of the configuration
  return loaded
}
