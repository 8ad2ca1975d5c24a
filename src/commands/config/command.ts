import { Command } from 'commander'
import { renderExampleConfig } from '../../config/example.ts'
import { describeSource, renderSettings, settingsAsJson } from '../../config/render.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'

interface Options extends ConfigOptions {
  readonly json?: true
  readonly example?: true
}

/** `chain-agent config`: the effective configuration and its origin. */
export const configCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('config'))
    .option('--json', 'as JSON: the file in use, and key → value and origin')
    .option('--example', 'print an example file with every key instead')
    .addHelpText(
      'after',
      `
The configuration file is the one of --config, else of CHAIN_AGENT_CONFIG, else /etc/chain-agent/config.yaml if it
exists. --config /dev/null uses none. Environment variables override the file, flags override both. URLs are
shortened to their host: the rest may contain a key.

Examples:
  chain-agent config
  chain-agent config --config new.yaml     # validate a file before it is installed
  chain-agent config --example > config.yaml`,
    )
    .action((options: Options) => {
      if (options.example) io.stdout.write(renderExampleConfig())
      else {
        const { settings, source } = configOf(io, options)
        const text = options.json
          ? JSON.stringify({ file: source?.path ?? null, settings: settingsAsJson(settings) }, undefined, 2)
          : `# configuration file: ${describeSource(source)}\n${renderSettings(settings)}`
        io.stdout.write(`${text}\n`)
      }
      exit(0)
    })
