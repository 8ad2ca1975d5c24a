import { Command } from 'commander'
import { configOptions } from '../../terminal/config-options.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'
import type { Options } from './action.ts'

/** `chain-agent config`: the effective configuration and its origin. */
export const configCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('config'))
    .option('--json', 'as JSON: the file in use, and key → value and origin')
    .option('--example', 'print an example file with every key instead')
    .option('--ip-rules', "print a drop-in that limits the agent's unit to the addresses of the configuration instead")
    .option('--client <addresses...>', 'addresses or networks that may connect to the agent, for --ip-rules')
    .addHelpText(
      'after',
      `
The configuration file is the one of --config, else of CHAIN_AGENT_CONFIG, else
/etc/chain-agent/config.yaml if it exists. --config /dev/null uses none.
Environment variables override the file, flags override both. URLs are shortened
to their host: the rest may contain a key.

--ip-rules writes a drop-in: ip.conf in
/etc/systemd/system/chain-agent.service.d. It resolves host names once: write it
again when an address changes.

Examples:
  chain-agent config
  chain-agent config --config new.yaml     # validate a file before it is installed
  chain-agent config --example > config.yaml
  chain-agent config --ip-rules --client 10.0.0.5 > ip.conf`,
    )
    .action(async (options: Options) => {
      const { printConfig } = await import('./action.ts')
      await printConfig({ io, exit, options })
    })
