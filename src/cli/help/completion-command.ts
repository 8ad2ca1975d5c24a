import { Argument, Command } from 'commander'
import type { ExitCode, Io } from '../io.ts'
import { renderBash } from './bash.ts'
import { describeCommand } from './describe.ts'
import { listOffers } from './offers.ts'
import { renderZsh } from './zsh.ts'

const SHELLS = { bash: renderBash, zsh: renderZsh } as const

/** `chain-agent completion SHELL`: a script for the shell, made of the commands that there are. */
export const completionCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const completion = new Command('completion')
    .description('print what makes the shell complete our commands')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      `
Commands, options, services, scenarios and keys of the configuration are completed, and files where an
option takes one. The script is made of this version: write it anew after an upgrade.

Examples:
  source <(chain-agent completion bash)
  chain-agent completion bash | sudo tee /usr/share/bash-completion/completions/chain-agent > /dev/null
  chain-agent completion zsh | sudo tee /usr/local/share/zsh/site-functions/_chain-agent > /dev/null`,
    )
    .action(async (shell: keyof typeof SHELLS) => {
      const program = describeCommand(completion.parent ?? completion)
      io.stdout.write(SHELLS[shell](program, await listOffers(program)))
      exit(0)
    })
  return completion
}
