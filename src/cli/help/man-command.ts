import { Command } from 'commander'
import type { ExitCode, Io } from '../io.ts'
import { describeCommand } from './describe.ts'
import { renderManual } from './manual.ts'

/** `chain-agent man`: the manual page, as man(1) reads it. */
export const manCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const man = new Command('man')
    .description('print the manual page')
    .addHelpText(
      'after',
      `
Examples:
  chain-agent man | man -l -
  chain-agent man | sudo tee /usr/local/share/man/man1/chain-agent.1 > /dev/null`,
    )
    .action(() => {
      io.stdout.write(renderManual(describeCommand(man.parent ?? man)))
      exit(0)
    })
  return man
}
