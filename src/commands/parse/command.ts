import { Argument, Command } from 'commander'
import { formats } from '../../parsers/formats.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'

/** `chain-agent parse`: prints the parsed content of a file. */
export const parseCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('parse')
    .addArgument(new Argument('<format>', 'the format').choices(formats.map(({ name }) => name)))
    .argument('[file]', 'the file, or - for standard input, which is the default')
    .addHelpText(
      'after',
      `
Formats:
${formats.map(({ name, help, shape }) => `  ${name.padEnd(13)} ${help}${shape === 'lines' ? ' (one result per line)' : ''}`).join('\n')}

64-bit numbers are decimal strings, unknown is null. Exit code 0 if something
was parsed, 1 if nothing was; lines that cannot be parsed go to standard error
with their number.

Examples:
  chain-agent parse ledger-tail ledger.jsonl
  systemctl show sshd | chain-agent parse systemctl`,
    )
    .action(async (name: string, file: string | undefined) => {
      const { parseInput } = await import('./action.ts')
      await parseInput({ io, exit, options: {} }, name, file)
    })
