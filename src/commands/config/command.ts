import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'

/** `chain-agent config`: the effective configuration and its origin. */
export const configCommand = defineCommand({
  options: (command) =>
    configOptions(command)
      .option('--json', 'as JSON: the file in use, and key → value and origin')
      .option('--example', 'print an example file with every key instead')
      .option(
        '--ip-rules',
        "print a drop-in that limits the agent's unit to the addresses of the configuration instead",
      )
      .option('--client <addresses...>', 'addresses or networks that may connect to the agent, for --ip-rules'),
  help: `The configuration file is the one of --config, else of CHAIN_AGENT_CONFIG, else
/etc/chain-agent/config.yaml if it exists. --config /dev/null uses none.
Environment variables override the file, flags override both. URLs are shortened
to their host: the rest may contain a key. chain-agent init writes a file with
what it finds on this host.

--ip-rules writes a drop-in: ip.conf in
/etc/systemd/system/chain-agent.service.d. It resolves host names once: write it
again when an address changes.

Exit codes: 0 the configuration is valid, 1 a host name has no address, 2 the
configuration is invalid, or usage error.

Examples:
  chain-agent config
  chain-agent config --config new.yaml     # validate a file before it is installed
  chain-agent config --example > config.yaml
  chain-agent config --ip-rules --client 10.0.0.5 > ip.conf`,
  load: async () => (await import('./action.ts')).printConfig,
})
