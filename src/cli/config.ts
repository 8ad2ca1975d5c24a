import { Command } from 'commander'
import { renderExampleConfig } from '../config/example.ts'
import { readConfig } from '../config/index.ts'
import { renderSettings, settingsAsJson } from '../config/show.ts'
import { configOptions, type ConfigOptions, flagsOf } from './config-options.ts'
import type { ExitCode, Io } from './io.ts'

interface Options extends ConfigOptions {
  readonly json?: true
  readonly example?: true
}

/** `chain-agent config`: what is in force, and who set it. */
export const configCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('config'))
    .description('print the effective configuration and where each value comes from')
    .option('--json', 'as JSON: key → value and origin')
    .option('--example', 'print an example file with every key instead')
    .addHelpText(
      'after',
      `
Addresses are cut down to their host: the rest may carry a key.

Examples:
  chain-agent config --config /etc/chain-agent/config.yaml
  chain-agent config --example > config.yaml`,
    )
    .action((options: Options) => {
      if (options.example) io.stdout.write(renderExampleConfig())
      else {
        const { settings } = readConfig(options.config, { env: io.env, flags: flagsOf(options) })
        const text = options.json
          ? JSON.stringify(settingsAsJson(settings), undefined, 2)
          : renderSettings(settings)
        io.stdout.write(`${text}\n`)
      }
      exit(0)
    })
