import { type LoadedConfig, readConfig, type Inputs } from '../config/load.ts'
import { type ConfigOptions, flagsOf } from './config-options.ts'
import { type Io, UsageError } from './io.ts'

/** The configuration of a command: file, environment, flags. Throws a ConfigError. */
export const loadFor = (
  { env, installedConfig }: Pick<Io, 'env' | 'installedConfig'>,
  file: string | undefined,
  flags: Inputs['flags'] = [],
): LoadedConfig => readConfig(file, { env, flags, installed: installedConfig })

/** The same for a command with `configOptions`. Throws a ConfigError. */
export const configOf = (io: Pick<Io, 'env' | 'installedConfig'>, options: ConfigOptions): LoadedConfig =>
  loadFor(io, options.config, flagsOf(options))

/** The same for a command about the node of this host, which a watcher does not have. Throws a ConfigError or a UsageError. */
export const nodeConfigOf = (
  io: Pick<Io, 'env' | 'installedConfig'>,
  options: ConfigOptions & { readonly file?: string },
): LoadedConfig => {
  const loaded = configOf(io, options)
  if (loaded.config.profile === 'watcher' && options.file === undefined) {
    throw new UsageError(
      'This host is a watcher (profile: watcher) and has no node. Run the command on the host of the node; `chain-agent status watched` shows what it has reported.',
    )
  }
  return loaded
}
