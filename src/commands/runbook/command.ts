import { Command } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import { createRunbooks } from '../../sources/runbooks.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle } from '../../cli/terminal/style.ts'

/** `chain-agent runbook`: the runbook of an alert, without a browser. */
export const runbookCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('runbook')
    .argument('[alert]', 'the name of the alert; default: list all names')
    .addHelpText(
      'after',
      `
Examples:
  chain-agent runbook
  chain-agent runbook ChainBlockStalled | less`,
    )
    .action(async (name: string | undefined) => {
      const runbooks = createRunbooks()
      const names = await runbooks.list()
      if (name === undefined) {
        io.stdout.write(names.map((one) => `${one}\n`).join(''))
        exit(0)
        return
      }
      const page = await runbooks.read(name)
      if (page !== undefined) io.stdout.write(createStyle(io).plain(page))
      else {
        const meant = closestMatch(name, names)
        io.stderr.write(`error: no runbook for '${name}'.${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}\n`)
      }
      exit(page === undefined ? 2 : 0)
    })
