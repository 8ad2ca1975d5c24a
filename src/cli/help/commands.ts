import { Argument, Command } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import type { ExitCode, Io } from '../io.ts'

/** `chain-agent help COMMAND`: the same as `chain-agent COMMAND --help`. */
export const helpCommand = (): Command => {
  const help = new Command('help')
    .argument('[command...]', 'the command and its subcommand')
    .addHelpText(
      'after',
      `
Examples:
  chain-agent help
  chain-agent help status
  chain-agent help maintenance start`,
    )
    .action((words: readonly string[]) => {
      let shown = help.parent ?? help
      for (const word of words) {
        const names = shown.commands.map((command) => command.name())
        const found = shown.commands.find((command) => command.name() === word)
        const meant = closestMatch(word, names)
        const hint = meant === undefined ? `Commands: ${names.join(', ')}` : `Did you mean ${meant}?`
        if (!found) shown.error(`error: unknown command '${word}'\n(${hint})`)
        else shown = found
      }
      shown.help()
    })
  return help
}

/** `chain-agent completion SHELL`: a completion script for the shell, generated from the commands. */
export const completionCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const completion = new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      `
Completes commands, options, services, scenarios, configuration keys and file
names. The script belongs to this version: generate it again after an upgrade.

Examples:
  source <(chain-agent completion bash)
  chain-agent completion bash | sudo tee /usr/share/bash-completion/completions/chain-agent > /dev/null
  chain-agent completion zsh | sudo tee /usr/local/share/zsh/site-functions/_chain-agent > /dev/null`,
    )
    .action(async (shell: 'bash' | 'zsh') => {
      const { renderCompletion } = await import('./completion.ts')
      io.stdout.write(await renderCompletion(completion.parent ?? completion, shell))
      exit(0)
    })
  return completion
}

/** `chain-agent man`: the manual page, in roff. */
export const manCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const man = new Command('man')
    .addHelpText(
      'after',
      `
Examples:
  chain-agent man | man -l -
  chain-agent man | sudo tee /usr/local/share/man/man1/chain-agent.1 > /dev/null`,
    )
    .action(async () => {
      const { renderManual } = await import('./manual.ts')
      io.stdout.write(renderManual(man.parent ?? man))
      exit(0)
    })
  return man
}
