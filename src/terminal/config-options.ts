import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Inputs } from '../config/load.ts'
import { matching, NO_VALUES, repeatable } from './option-values.ts'

/** The options of every command that reads the configuration. */
export interface ConfigOptions {
  readonly config?: string
  readonly prefix?: string
  readonly profile?: string
  readonly listen?: string
  readonly 'web.config.file'?: string
  readonly rpcUrl?: string
  readonly logLevel?: string
  readonly set: readonly string[]
}

export const configOptions = (command: Command) =>
  withSettings(
    webConfigOption(
      prefixOption(fileOption(command.optionsGroup('Configuration:')))
        .option('--profile <profile>', 'node, or watcher: another host that has no node')
        .option('--listen <host:port>', 'address of the agent: `run` serves it, other commands read from it'),
    ),
  ).optionsGroup('')

/** The name of the option is that of Prometheus and its exporters. */
export const webConfigOption = (command: Command) =>
  command.option('--web.config.file <file>', 'TLS and passwords of the listener, in the format of exporter-toolkit')

/** The subset for commands that do not monitor the node. */
export const fileAndSettingOptions = (command: Command) => withSettings(fileOption(command))

/** For commands that read a part of the configuration. */
export const fileOption = (command: Command) =>
  command.option(
    '-c, --config <file>',
    'configuration file (YAML); default: CHAIN_AGENT_CONFIG, else /etc/chain-agent/config.yaml',
  )

export const prefixOption = (command: Command) =>
  command.option('--prefix <word>', 'name prefix of the units and tools of the node, or auto')

const withSettings = (command: Command) =>
  command
    .option('--rpc-url <url>', 'URL of the JSON-RPC of the node')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent')
    .option(
      '--set <key=value>',
      'set any configuration key, as in --set rpc.interval=1s; repeatable',
      repeatable(matching(/^[^=]+=/, 'KEY=VALUE, like rpc.interval=1s')),
      NO_VALUES,
    )

const SHORTHANDS = [
  { option: 'prefix', typed: '--prefix', path: 'prefix' },
  { option: 'profile', typed: '--profile', path: 'profile' },
  { option: 'listen', typed: '--listen', path: 'listen' },
  { option: 'web.config.file', typed: '--web.config.file', path: 'web.configFile' },
  { option: 'rpcUrl', typed: '--rpc-url', path: 'rpc.url' },
  { option: 'logLevel', typed: '--log-level', path: 'log.level' },
] as const

/** The command-line options as configuration values. */
export const flagsOf = (options: ConfigOptions): Inputs['flags'] => [
  ...SHORTHANDS.flatMap(({ option, typed, path }) => {
    const value = options[option]
    return value === undefined ? [] : [{ path, value: option === 'web.config.file' ? resolve(value) : value, typed }]
  }),
  ...options.set.map((text) => {
    const at = text.indexOf('=')
    const path = text.slice(0, at)
    return { path, value: text.slice(at + 1), typed: `--set ${path}` }
  }),
]
