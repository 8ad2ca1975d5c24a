import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { NO_VALUES, repeatable } from '../../terminal/option-values.ts'

/** `chain-agent init`: write what is found on this host, and what the operator answers, to the configuration. */
export const initCommand = defineCommand({
  options: (command) =>
    configOptions(command)
      .option('-r, --reference <url>', 'RPC of another node of the same chain; repeatable', repeatable(), NO_VALUES)
      .option(
        '--alertmanager <url>',
        'Alertmanager to which the agent sends alerts; repeatable',
        repeatable(),
        NO_VALUES,
      )
      .option('--public-key <key>', 'secp public key of the node (default: from the status report)')
      .option('-o, --output <file>', 'the file; - for standard output; default: /etc/chain-agent/config.yaml')
      .option('-y, --yes', 'ask nothing')
      .option('--check', 'write nothing, print the difference'),
  help: `Reads the node once, and writes its name prefix, its public key from the
status report, which root can read, the references and the Alertmanagers.
--config is read only. In a file that exists all values and comments stay: what
is missing is added. The difference is printed and, if the file has settings,
written after a question, unless --yes is given. docs/how-to/install.md has the
steps. On a terminal it asks for what is not known; the answers are options, or
variables of the settings:
  --prefix        CHAIN_AGENT_PREFIX=monad
  --public-key    CHAIN_AGENT_NODE_PUBLIC_KEY=02...
  --reference     CHAIN_AGENT_REFERENCES='[{name: a, url: https://a.example}]'
  --alertmanager  CHAIN_AGENT_ALERTMANAGERS_URLS='[http://127.0.0.1:9093]'

All other keys: chain-agent config --example. In force: chain-agent config.

Exit codes: 0 the file is as wanted: written, or unchanged; 1 no node was found,
the file cannot be written, or the answer was no; 2 usage error, or the
configuration is invalid; 3 with --check, the file would change.

Examples:
  sudo chain-agent init
  sudo chain-agent init -r https://rpc.provider-a.example -r https://rpc.provider-b.example
  sudo chain-agent init --yes --alertmanager http://127.0.0.1:9093
  sudo chain-agent init --check -r https://rpc.provider-c.example
  chain-agent init --output -`,
  load: async () => (await import('./action.ts')).init,
})
