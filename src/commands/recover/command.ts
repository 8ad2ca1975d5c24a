import { Command } from 'commander'
import { configOptions } from '../../terminal/config-options.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'
import type { RecoverOptions } from './action.ts'

/** `chain-agent recover`: the recovery procedure that the node needs now. It advises and never acts. */
export const recoverCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('recover'))
    .option('--json', 'as JSON')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `
It advises and never acts: you decide whether to run the commands it shows. Its
data comes from the running agent or, if no agent answers, from the node itself.

Exit codes: 0 nothing to do, or only wait; 1 something to do, or the recovery is
unknown; 2 usage error.

Examples:
  chain-agent recover
  chain-agent recover --json | jq -r .path`,
    )
    .action(async (options: RecoverOptions) => {
      const { recover } = await import('./action.ts')
      await recover({ io, exit, options })
    })
