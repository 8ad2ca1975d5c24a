import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'

/** `chain-agent init`: write a configuration with what is found on this host. */
export const initCommand = defineCommand({
  options: (command) =>
    configOptions(command)
      .option(
        '-r, --reference <url>',
        'RPC of another node of the same chain, whose height is compared; repeatable',
        (url: string, before: readonly string[]) => [...before, url],
        NO_URLS,
      )
      .option('-o, --output <file>', 'the file; - for standard output; default: /etc/chain-agent/config.yaml'),
  help: `Reads the node once, and writes a new file with its name prefix, its public key
from the status report, which root can read, and the references. Units and
devices are comments in it: the agent finds them at each start. Without
--reference, it asks for the references if standard input is a terminal. A file
that has settings is not replaced. --config is read only.

All other keys: chain-agent config --example. In force: chain-agent config.

Exit codes: 0 the file is written, 1 no node was found, or the file cannot be
written, 2 usage error.

Examples:
  sudo chain-agent init
  sudo chain-agent init -r https://rpc.provider-a.example -r https://rpc.provider-b.example
  chain-agent init --output -`,
  load: async () => (await import('./action.ts')).init,
})

const NO_URLS: readonly string[] = []
