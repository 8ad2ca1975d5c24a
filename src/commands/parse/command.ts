import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { Argument, Command } from 'commander'
import { size as sizeOf } from '../../core/format.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { describeFileError } from '../../core/file-errors.ts'
import { toJson } from '../../core/json.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { parseTracking } from '../../parsers/time-sync.ts'
import { parseConsensusLine } from '../../parsers/consensus-log.ts'
import { parseExecutionLine } from '../../parsers/execution-log.ts'
import { checkKeyFile } from '../../parsers/keystore.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'
import { parsePatternLine } from '../../parsers/log-patterns.ts'
import { parseMonlogReport } from '../../parsers/monlog.ts'
import { parseStorageReport } from '../../parsers/mpt.ts'
import { parseNodeVersion } from '../../parsers/version.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import { parseRpcResponse } from '../../parsers/rpc.ts'
import { parseDriveHealth } from '../../parsers/smartctl.ts'
import { parseListeners } from '../../parsers/kernel-files.ts'
import { parseStatusReport } from '../../parsers/status.ts'
import { parseUnits } from '../../parsers/systemctl.ts'

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
        throw new SourceError({ doing: `read ${name}`, happened: `it is larger than ${sizeOf(MAX_BYTES)}` })
      }
      chunks.push(bytes)
    }
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw new SourceError({ doing: `read ${name}`, ...describeFileError(error) }, { cause: error })
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** An input format of `chain-agent parse`. */
interface Format {
  readonly name: string
  /** One line for the help. */
  readonly help: string
  /**
   * `document`: the whole text is one value. `lines`: each line is one value; null means that the line is not of this
   * format.
   */
  readonly shape: 'document' | 'lines'
  /** Throws a ParseError. */
  parse(text: string): unknown
}

const formats: readonly Format[] = [
  { name: 'rpc', help: 'a JSON-RPC response', shape: 'document', parse: parseRpcResponse },
  { name: 'systemctl', help: 'the output of systemctl show', shape: 'document', parse: parseUnits },
  { name: 'ledger-tail', help: 'lines of the ledger stream', shape: 'lines', parse: parseLedgerLine },
  { name: 'consensus-log', help: 'lines of the consensus log', shape: 'lines', parse: parseConsensusLine },
  { name: 'execution-log', help: 'lines of the execution log', shape: 'lines', parse: parseExecutionLine },
  { name: 'log-patterns', help: 'known problem lines of any log of the node', shape: 'lines', parse: parsePatternLine },
  {
    name: 'chain-mpt',
    help: "the storage tool's report, every layout since 2024",
    shape: 'document',
    parse: parseStorageReport,
  },
  { name: 'chain-status', help: "the node's own status report", shape: 'document', parse: parseStatusReport },
  {
    name: 'node-version',
    help: 'the output of --version of a node program',
    shape: 'document',
    parse: parseNodeVersion,
  },
  {
    name: 'prometheus',
    help: 'metrics in the Prometheus text format or OpenMetrics',
    shape: 'document',
    parse: parsePrometheusText,
  },
  {
    name: 'keystore',
    help: 'whether a keystore or key backup is complete; its content is never shown',
    shape: 'document',
    parse: checkKeyFile,
  },
  {
    name: 'chrony',
    help: 'the output of chronyc -c tracking',
    shape: 'document',
    // Without the current time: the text may be from another day.
    parse: (text) => parseTracking(text),
  },
  {
    name: 'smartctl',
    help: 'the output of smartctl -j -a for an NVMe drive',
    shape: 'document',
    parse: parseDriveHealth,
  },
  {
    name: 'sockets',
    help: 'the listening sockets of /proc/net/tcp and tcp6',
    shape: 'document',
    parse: parseListeners,
  },
  { name: 'monlog', help: "the log analyzer's report", shape: 'document', parse: parseMonlogReport },
]
