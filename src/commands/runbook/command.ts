import { fileOption, prefixOption } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'

/** `chain-agent runbook`: the runbook of an alert, without a browser. */
export const runbookCommand = defineCommand({
  options: (command) =>
    prefixOption(fileOption(command)).argument(
      '[alert]',
      'its name, or NAME.why for one section; default: list all names',
    ),
  help: `Commands and paths have the name prefix of the node on this host.

Exit codes: 0 it was printed, 1 it could not be read, 2 no runbook has the name,
or usage error.

Examples:
  chain-agent runbook
  chain-agent runbook ChainBlockStalled | less
  chain-agent runbook ChainBlockStalled.deadlock
  chain-agent runbook ChainBlockStalled --prefix monad`,
  load: async () => (await import('./action.ts')).printRunbook,
})
