import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'

/** `chain-agent config`: the effective configuration and its origin. */
export const configCommand = defineCommand({
  options: (command) =>
    configOptions(command)
      .option('--json', 'as JSON: the file in use, and key → value and origin')
      .option('--example', 'print an example file with every key instead'),
  help: `The configuration file is the one of --config, else of CHAIN_AGENT_CONFIG, else
/etc/chain-agent/config.yaml if it exists. --config /dev/null uses none.
Environment variables override the file, flags override both. URLs are shortened
to their host: the rest may contain a key. chain-agent init writes a file with
what it finds on this host.

Exit codes: 0 the configuration is valid, 2 it is invalid, or usage error.

Examples:
  chain-agent config
  chain-agent config --config new.yaml     # validate a file before it is installed
  chain-agent config --example > config.yaml`,
  load: async () => (await import('./action.ts')).printConfig,
})
