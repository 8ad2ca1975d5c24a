import { size as sizeOf } from '../../core/format.ts'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { Argument, Command } from 'commander'
import { describeFileError, ParseError, SourceError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { type Format, formats } from '../../parsers/formats.ts'
import type { ExitCode, Io } from '../../cli/io.ts'

/** `chain-agent parse`: prints the parsed content of a file. */
export const parseCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('parse')
    .addArgument(new Argument('<format>', 'the format').choices(formats.map(({ name }) => name)))
    .argument('[file]', 'the file; default: standard input')
    .addHelpText(
      'after',
      `
Formats:
${formats.map(({ name, help, shape }) => `  ${name.padEnd(13)} ${help}${shape === 'lines' ? ' (one result per line)' : ''}`).join('\n')}

64-bit numbers are decimal strings, unknown is null. Exit code 0 if something was parsed,
1 if nothing was; lines that cannot be parsed go to standard error with their number.

Examples:
  chain-agent parse ledger-tail ledger.jsonl
  systemctl show sshd | chain-agent parse systemctl`,
    )
    .action(async (name: string, file: string | undefined) => {
      const format = formats.find((candidate) => candidate.name === name)
      if (!format) return
      const input = file === undefined ? io.stdin : createReadStream(file)
      const text = await readAll(input, file ?? 'standard input')
      const parsed = format.shape === 'lines' ? parseLines(io, format, text) : parseWhole(io, format, text)
      exit(parsed ? 0 : 1)
    })

const parseWhole = (io: Io, format: Format, text: string): boolean => {
  try {
    io.stdout.write(`${JSON.stringify(toJson(format.parse(text)), undefined, 2)}\n`)
    return true
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    io.stderr.write(`${error.message}\n`)
    return false
  }
}

const parseLines = (io: Io, format: Format, text: string): boolean => {
  let parsed = 0
  let lines = 0
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    lines += 1
    try {
      const value = format.parse(line)
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

/** For files that an operator inspects; the agent itself reads with lower limits. */
const MAX_BYTES = 256 * 1024 * 1024

const readAll = async (input: Readable, name: string): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    const stream: AsyncIterable<Uint8Array> = input
    for await (const bytes of stream) {
      size += bytes.length
      if (size > MAX_BYTES) {
        throw new SourceError({
          doing: `read ${name}`,
          happened: `it is larger than ${sizeOf(MAX_BYTES)}`,
        })
      }
      chunks.push(bytes)
    }
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw new SourceError({ doing: `read ${name}`, ...describeFileError(error) }, { cause: error })
  }
  return Buffer.concat(chunks).toString('utf8')
}
