import { statSync } from 'node:fs'

/** The configuration file in use; null where only defaults, environment and flags apply. */
export interface ConfigSource {
  readonly path: string
  readonly chosenBy: '--config' | 'CHAIN_AGENT_CONFIG' | 'default path'
}

export interface SourceInputs {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The default path, used if it exists and neither the command line nor the environment sets one. */
  readonly installed?: string | undefined
}

/** A name prefix; `auto` searches for it. */
export const PREFIX = /^[a-z][a-z0-9]*$/

/** The order: `--config`, the environment, the installed file. */
export const sourceOf = (path: string | undefined, { env, installed }: SourceInputs): ConfigSource | null => {
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
