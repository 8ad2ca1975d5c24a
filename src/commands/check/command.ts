import { Command } from 'commander'
import { configOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import type { CheckOptions } from './action.ts'

/** `chain-agent check`: runs every collector once, evaluates the health of the node, and prints what to do. */
export const checkCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('check'))
    .option('--json', 'as JSON: health verdict, findings and facts')
    .addHelpText(
      'after',
      `
Runs every collector of the agent once, and checks that the host has what the
agent needs. It changes nothing and takes some seconds. Run it as the user of
the agent: another user may have other permissions.

Exit codes: 0 healthy, 1 something needs attention, 2 the node does not do its
work, or its state is unknown. During a maintenance window only keys and exposed
ports count.

Examples:
  chain-agent check
  sudo -u chain-agent chain-agent check
  chain-agent check --json | jq '.findings[] | {severity, summary}'`,
    )
    .action(async (options: CheckOptions) => {
      const { check } = await import('./action.ts')
      await check({ io, exit, options })
    })
