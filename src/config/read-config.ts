import { statSync } from 'node:fs'
import { parseConfigFile, readText } from './file.ts'
import { readForks } from './forks.ts'
import { type Inputs, loadConfig, type Loaded } from './load.ts'

/** The configuration file in use; null where only defaults, environment and flags apply. */
export interface ConfigSource {
  readonly path: string
  readonly chosenBy: '--config' | 'CHAIN_AGENT_CONFIG' | 'default path'
}

export interface ConfigInputs extends Pick<Inputs, 'env' | 'flags'> {
  /** The default path, used if it exists and neither the command line nor the environment sets one. */
  readonly installed?: string | undefined
}

export interface LoadedConfig extends Loaded {
  readonly source: ConfigSource | null
}

/** Loads the configuration of a command. Throws a ConfigError. */
export const readConfig = (path: string | undefined, { env, flags, installed }: ConfigInputs): LoadedConfig => {
  const source = sourceOf(path, { env, installed })
  const file = source && parseConfigFile(source.path, readText(source.path, 'the configuration file'))
  const loaded = loadConfig({ file: file ?? undefined, env, flags })
  readForks(loaded.config.version.forksFile) // throws a ConfigError for an invalid file
  return { ...loaded, source }
}

/** The order: `--config`, the environment, the installed file. */
const sourceOf = (path: string | undefined, { env, installed }: Omit<ConfigInputs, 'flags'>): ConfigSource | null => {
  if (path !== undefined) return { path, chosenBy: '--config' }
  // A unit file unsets a variable by setting it to the empty string.
  const named = env['CHAIN_AGENT_CONFIG']
  if (named) return { path: named, chosenBy: 'CHAIN_AGENT_CONFIG' }
  return installed !== undefined && exists(installed) ? { path: installed, chosenBy: 'default path' } : null
}

/** A file in a directory without search permission counts as existing: the read error explains what is missing. */
const exists = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}
