import { Argument, Command, Option } from 'commander'
import { openLogs, type ShownLine } from './logs.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { readCount, readTime } from '../../cli/option-values.ts'
import { type ExitCode, type Io, isInterrupted, reportInterrupted, writeAll } from '../../cli/io.ts'
import { renderJson, renderRaw, renderShort } from './render.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'

interface Options extends ConfigOptions {
  readonly follow?: true
  readonly since?: number
  readonly until?: number
  readonly lines?: number
  readonly grep?: string
  readonly output: 'short' | 'raw' | 'json'
}

const NEWEST = 50

/** `chain-agent logs SERVICE`: what a service says, without its secrets. */
export const logsCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const moment = readTime(io.clock)
  const command = configOptions(new Command('logs'))
  return command
    .description("print a service's log, with secrets redacted")
    .addArgument(
      new Argument(
        '<service>',
        'bft, execution, rpc, ledger-tail, otelcol, cruft or agent, or the name of the unit',
      ),
    )
    .option('-f, --follow', 'go on with what is written from now on, until Ctrl-C')
    .option('-S, --since <time>', 'from then on: 1h, 2026-03-01T12:00, yesterday', moment)
    .option('-U, --until <time>', 'up to then', moment)
    .option(
      '-n, --lines <number>',
      `the last so many lines; ${NEWEST} where no time is given`,
      readCount('lines'),
    )
    .option(
      '-g, --grep <pattern>',
      'lines that match; case matters where the pattern has a capital',
    )
    .addOption(
      new Option('-o, --output <form>', 'short: to be read; raw: the lines themselves; json')
        .choices(['short', 'raw', 'json'])
        .default('short'),
    )
    .addHelpText(
      'after',
      `
Passwords, tokens, keys, what follows their names, and long hex digits are redacted; public keys,
ids that are cut short, and hashes behind a name that says so stay. Times are UTC.

Examples:
  chain-agent logs bft -f
  chain-agent logs execution --since 10m --grep 'LOG_(WARNING|ERROR)'
  chain-agent logs rpc -o json -n 1000 | jq 'select(.level == "ERROR")'`,
    )
    .action(async (word: string, options: Options) => {
      const { follow = false, since, until, grep, output } = options
      if (follow && until !== undefined) {
        command.error('error: --follow goes on, and --until ends; say one of them', { exitCode: 2 })
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
          const known = `there are ${found.labels.join(', ')}`
          command.error(`error: no service '${word}': ${known}${hint}`, { exitCode: 2 })
          return
        }
        const { label, unit } = found.service
        const newest =
          options.lines ?? (since === undefined && until === undefined ? NEWEST : undefined)
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
          io.stderr.write(`The journal has no such lines of ${unit}.\n`)
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
