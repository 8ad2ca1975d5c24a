import { Argument } from 'commander'
import { defineCommand } from '../../terminal/define-command.ts'
import type { ActionContext, Io } from '../../terminal/io.ts'
import { jsonText } from '../../terminal/output.ts'
import { ParseError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { type Format, formats } from '../../parsers/formats.ts'
import { withoutPrintedPrefix } from '../../parsers/journal.ts'
import { readInput } from '../shared/read-input.ts'

/** `chain-agent parse`: prints the parsed content of a file. */
export const parseCommand = defineCommand({
  options: (command) =>
    command
      .addArgument(new Argument('<format>', 'the format').choices(formats.map(({ name }) => name)))
      .argument('[file]', 'the file, or - for standard input, which is the default'),
  help: `Formats:
${formats.map(({ name, help, shape }) => `  ${name.padEnd(13)} ${help}${shape === 'lines' ? ' (one result per line)' : ''}`).join('\n')}

64-bit numbers are decimal strings, unknown is null. Lines that cannot be parsed
go to standard error with their number.

Exit codes: 0 something was parsed, 1 nothing was, 2 usage error.

Examples:
  chain-agent parse ledger-tail ledger.jsonl
  systemctl show sshd | chain-agent parse systemctl`,
  load: () => parseInput,
})

type ParseContext = ActionContext<{ readonly format: string; readonly file?: string }>

const parseInput = async ({ io, exit, options }: ParseContext): Promise<void> => {
  const { format: name, file } = options
  const format = formats.find((candidate) => candidate.name === name)
  if (!format) return
  const text = await readInput(io, file ?? '-')
  const parse = await format.load()
  const parsed = format.shape === 'lines' ? parseLines(io, { ...format, parse }, text) : parseWhole(io, parse, text)
  exit(parsed ? 0 : 1)
}

type Parse = Awaited<ReturnType<Format['load']>>

const parseWhole = (io: Io, parse: Parse, text: string): boolean => {
  try {
    io.stdout.write(jsonText(parse(text)))
    return true
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    io.stderr.write(`${error.message}\n`)
    return false
  }
}

const parseLines = (io: Io, format: Format & { readonly parse: Parse }, text: string): boolean => {
  let parsed = 0
  let lines = 0
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    lines += 1
    try {
      const value = format.parse(withoutPrintedPrefix(line))
      if (value === null) io.stderr.write(`line ${at + 1}: not in this format, skipped\n`)
      else {
        io.stdout.write(`${JSON.stringify(toJson(value))}\n`)
        parsed += 1
      }
    } catch (error) {
      if (!(error instanceof ParseError)) throw error
      io.stderr.write(`line ${at + 1}: ${error.message}\n`)
    }
  }
  if (parsed === 0) {
    const count = lines === 1 ? '1 line was read, and it is not' : `${lines} lines were read, and none is`
    io.stderr.write(`${count} in the format ${format.name}.\n`)
  }
  return parsed > 0
}
