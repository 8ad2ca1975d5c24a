import { Command } from 'commander'
import { closestMatch } from '../../core/suggest.ts'

/** `chain-agent help COMMAND`: the same as its --help. */
export const helpCommand = (): Command => {
  const help = new Command('help')
    .description('show how a command is used')
    .argument('[command...]', 'the command, and the one below it')
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
        const hint =
          meant === undefined ? `There are: ${names.join(', ')}` : `Did you mean ${meant}?`
        if (!found) shown.error(`error: unknown command '${word}'\n(${hint})`)
        else shown = found
      }
      shown.help()
    })
  return help
}
