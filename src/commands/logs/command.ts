import { Argument, Command, Option } from 'commander'
import { openLogs, type ShownLine } from './logs.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { readCount, readTime } from '../../cli/option-values.ts'
import { type ExitCode, type Io, isInterrupted, reportInterrupted, writeAll } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle, type Style, type Tone } from '../../cli/terminal/style.ts'
import { sanitize } from '../../core/sanitize.ts'
import { wrap } from '../../cli/terminal/layout.ts'

interface Options extends ConfigOptions {
  readonly follow?: true
  readonly since?: number
  readonly until?: number
  readonly lines?: number
  readonly grep?: string
  readonly output: 'short' | 'raw' | 'json'
}

const NEWEST = 50

/** `chain-agent logs SERVICE`: the log of a service, with secrets redacted. */
export const logsCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const moment = readTime(io.clock)
  const command = configOptions(new Command('logs'))
  return command
    .addArgument(
      new Argument('<service>', 'bft, execution, rpc, ledger-tail, otelcol, cruft or agent, or the name of the unit'),
    )
    .option('-f, --follow', 'print new lines until Ctrl-C')
    .option('-S, --since <time>', 'start: 1h, 2026-03-01T12:00, yesterday', moment)
    .option('-U, --until <time>', 'end', moment)
    .option('-n, --lines <number>', `the last N lines; default ${NEWEST}, without a time`, readCount('lines'))
    .option('-g, --grep <pattern>', 'lines that match; case-sensitive if the pattern has a capital letter')
    .addOption(
      new Option('-o, --output <form>', 'short: for reading; raw: unchanged lines; json')
        .choices(['short', 'raw', 'json'])
        .default('short'),
    )
    .addHelpText(
      'after',
      `
Redacts passwords, tokens, keys, values after such names, and long hexadecimal strings. Public keys, abbreviated
ids, and hashes after a name that identifies them are kept. Times are UTC.

Examples:
  chain-agent logs bft -f
  chain-agent logs execution --since 10m --grep 'LOG_(WARNING|ERROR)'
  chain-agent logs rpc -o json -n 1000 | jq 'select(.level == "ERROR")'`,
    )
    .action(async (word: string, options: Options) => {
      const { follow = false, since, until, grep, output } = options
      if (follow && until !== undefined) {
        command.error('error: --follow and --until exclude each other', { exitCode: 2 })
      }
      const { config } = configOf(io, options)
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      const { clock, signal } = io
      const logs = openLogs({ config, clock, path, signal, ...io.overrides })
      const progress = createProgress(io)
      try {
        const found = await logs.find(word)
        if (!('service' in found)) {
          const hint = found.nearest === undefined ? '' : `\n(Did you mean ${found.nearest}?)`
          const known = `services: ${found.labels.join(', ')}`
          command.error(`error: no service '${word}': ${known}${hint}`, { exitCode: 2 })
          return
        }
        const { label, unit } = found.service
        const newest = options.lines ?? (since === undefined && until === undefined ? NEWEST : undefined)
        const print = printer(io, label, output)
        let shown = 0
        progress.show(`Reading the log of ${unit}`)
        for await (const lines of logs.read({ unit, since, until, newest, grep, follow })) {
          progress.end()
          await print(lines)
          shown += lines.length
          if (shown === 0) progress.show(`Reading the log of ${unit}: nothing yet`)
        }
        progress.end()
        if (!follow && isInterrupted(io)) {
          reportInterrupted(io, exit, { hasOutput: shown > 0 })
          return
        }
        if (shown === 0 && !signal.aborted) {
          io.stderr.write(`The journal has no matching lines of ${unit}.\n`)
        }
        exit(0)
      } finally {
        progress.end()
        logs.close()
      }
    })
}

const printer = (io: Io, label: string, output: Options['output']) => {
  const style = createStyle(io)
  const render = (line: ShownLine): string => {
    if (output === 'json') return renderJson(label, line)
    return output === 'raw' ? renderRaw(line) : renderShort(line, style)
  }
  return (lines: readonly ShownLine[]): Promise<void> => writeAll(io, lines.map(render).join(''))
}

/** Lines of consensus with complete certificates are longer than a screen. */
const MAX_LENGTH = 2000

const TONES: Readonly<Record<string, Tone>> = { ERROR: 'bad', WARN: 'notice', DEBUG: 'quiet', TRACE: 'quiet' }

/** `TIME LEVEL message key=value`, wrapped. */
export const renderShort = (line: ShownLine, style: Style): string => {
  const { at, level, by, from } = line
  const head = `${new Date(at).toISOString()} ${oneLine(sanitize(level ?? '')).padEnd(5)} `
  const content = [by === null ? line.message : `${by}: ${line.message}`, ...pairsOf(line)].join(' ')
  const text = style.plain(cut(oneLine(sanitize(from === null ? content : `${content} (${from})`))))
  const [first = '', ...rest] = wrap(head + text, style, '  ')
  const shown = [first.slice(2), ...rest]
  const tone = TONES[level ?? '']
  return shown.map((part) => `${tone ? style.paint(tone, part) : part}\n`).join('')
}

/** The unchanged line. */
export const renderRaw = ({ raw }: ShownLine): string => `${sanitize(raw)}\n`

export const renderJson = (service: string, { at, raw, ...line }: ShownLine): string => {
  const { level, by, message, from, fields } = line
  const time = new Date(at).toISOString()
  const document = JSON.stringify({ time, service, level, by, message, fields, from, raw })
  return `${sanitize(document)}\n`
}

const pairsOf = ({ fields }: ShownLine): readonly string[] =>
  Object.entries(fields).map(([key, value]) =>
    /^[^\s"=]+$/.test(value) ? `${key}=${value}` : `${key}=${JSON.stringify(value)}`,
  )

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' \u23ce ').trimEnd()

const cut = (text: string): string =>
  text.length <= MAX_LENGTH
    ? text
    : `${text.slice(0, MAX_LENGTH)}\u2026 (${text.length - MAX_LENGTH} more characters: -o raw shows them)`
