import { readFileSync } from 'node:fs'
import { ConfigError } from '../core/errors.ts'
import { parseConfigFile } from './file.ts'
import { type Inputs, loadConfig, type Loaded } from './load.ts'

/** The environment of the process; nobody else reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env

/** Loads the configuration that a command was given. Throws a ConfigError; nothing has been started then. */
export const readConfig = (
  path: string | undefined,
  { env, flags }: Pick<Inputs, 'env' | 'flags'>,
): Loaded => {
  // An empty variable is how a unit file says "none".
  const named = path ?? (env['CHAIN_AGENT_CONFIG'] || undefined)
  const file = named === undefined ? undefined : parseConfigFile(named, readText(named))
  return loadConfig({ file, env, flags })
}

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new ConfigError(
      `${path}: the configuration file cannot be read: ${READ_PROBLEMS[code] ?? code}\n` +
        '  what to do: name a readable YAML file with --config, or leave it out to use the defaults',
    )
  }
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
}
