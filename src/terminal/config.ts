import { type LoadedConfig, readConfig, type Inputs } from '../config/load.ts'
import { type ConfigOptions, flagsOf } from './config-options.ts'
import type { Io } from './io.ts'

/** The configuration of a command: file, environment, flags. Throws a ConfigError. */
export const loadFor = (
  { env, installedConfig }: Pick<Io, 'env' | 'installedConfig'>,
  file: string | undefined,
  flags: Inputs['flags'] = [],
): LoadedConfig => readConfig(file, { env, flags, installed: installedConfig })

/** The same for a command with `configOptions`. Throws a ConfigError. */
export const configOf = (io: Pick<Io, 'env' | 'installedConfig'>, options: ConfigOptions): LoadedConfig =>
  loadFor(io, options.config, flagsOf(options))
