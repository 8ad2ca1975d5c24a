import { Command } from 'commander'
import { fileOption, prefixOption } from '../../terminal/config-options.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'
import type { RunbookOptions } from './action.ts'

/** `chain-agent runbook`: the runbook of an alert, without a browser. */
export const runbookCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  prefixOption(fileOption(new Command('runbook')))
    .argument('[alert]', 'the name of the alert; default: list all names')
    .addHelpText(
      'after',
      `
Commands and paths have the name prefix of the node on this host.

Examples:
  chain-agent runbook
  chain-agent runbook ChainBlockStalled | less
  chain-agent runbook ChainBlockStalled --prefix monad`,
    )
    .action(async (name: string | undefined, options: RunbookOptions) => {
      const { printRunbook } = await import('./action.ts')
      await printRunbook(name, { io, exit, options })
    })
