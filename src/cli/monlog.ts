import { Command, Option } from 'commander'
import { readConfig } from '../config/index.ts'
import { type KeyNames, readNames } from '../config/names.ts'
import { ConfigError } from '../core/errors.ts'
import { toJson } from '../core/json.ts'
import { parseDuration } from '../core/units.ts'
import { analyseLog } from '../tasks/monlog.ts'
import type { MonlogReport } from '../tasks/monlog/report.ts'
import { LONGEST_MS, type Since } from '../tasks/monlog/stretch.ts'
import { configOptions, type ConfigOptions, flagsOf } from './config-options.ts'
import type { ExitCode, Io } from './io.ts'
import { readMoment } from './moment.ts'
import { renderReport } from './monlog/page.ts'
import { createNameOf, type NameOf, shownLine } from './monlog/words.ts'
import { createProgress } from './page/progress.ts'
import { createStyle } from './page/style.ts'

interface MonlogOptions extends ConfigOptions {
  readonly raw?: true
  readonly names?: true
  readonly color: boolean
  readonly since?: Since
  readonly until?: number
  readonly file?: string
  readonly json?: true
}

/** `chain-agent monlog`: what the consensus log of the last 60 seconds says. */
export const monlogCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('monlog'))
    .description('analyse the last 60 seconds of the consensus log: verdict, findings, what to do')
    .option('-r, --raw', 'also the newest 10 lines of the log, secrets struck out')
    .option('-n, --names', 'names in the place of keys, from the file that names.file tells')
    .option('--no-color', 'without colour')
    .addOption(
      new Option('--since <time>', 'begin there: 10m, or a time in UTC; an hour back at most')
        .argParser(readSince(io))
        .default(undefined, '60s'),
    )
    .addOption(
      new Option('--until <time>', 'end there, so that it can be asked again')
        .argParser(readMoment(io.clock))
        .default(undefined, 'now'),
    )
    .option('--file <file|->', "a file in the journal's place, or - for standard input")
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Each minute is looked at by itself, and --since is rounded up to whole minutes. The verdict is that of
the newest minute; what was found before it is told with its time. --file takes what
\`journalctl -u UNIT --all -o json\` prints, or the lines as the service wrote them, and ends with the
newest line in it. The last 60 seconds of a node under DEBUG take a second or two to read.

Exit codes: 0 blocks are processed and committed, 1 something asks for attention, 2 they are not, or
that cannot be told.

Examples:
  chain-agent monlog
  watch -d chain-agent monlog --no-color
  chain-agent monlog -r -n
  chain-agent monlog --since 15m
  chain-agent monlog --since '2026-05-02 08:00' --until '2026-05-02 08:10'
  zcat node.log.gz | chain-agent monlog --file -`,
    )
    .action(async (options: MonlogOptions, command: Command) => {
      const inputs = { env: io.env, flags: flagsOf(options) }
      const { config } = readConfig(options.config, inputs)
      const nameOf = createNameOf(options.names ? namesOf(config.names.file) : new Map())
      const times = timesOf(options, io, command)
      const progress = createProgress(io)
      const report = await analyseLog({
        config,
        ...times,
        clock: io.clock,
        path: io.env['PATH'] ?? '/usr/bin:/bin',
        signal: io.signal,
        recording:
          options.file === '-' ? { name: 'standard input', bytes: io.stdin } : options.file,
        onLines: (lines) => progress.say(`Reading the log: ${lines.toLocaleString('en-US')} lines`),
        ...io.standIns,
      }).finally(progress.end)
      if (io.signal.aborted) {
        exit(2)
        return
      }
      const { publicKey: ownKey } = config.node
      const wantsRaw = options.raw === true
      const style = createStyle(io, { color: options.color })
      io.stdout.write(
        options.json
          ? `${JSON.stringify(toJson(asJson(report, nameOf, wantsRaw)))}\n`
          : renderReport(report, { style, nameOf, ownKey, wantsRaw }),
      )
      exit(report.verdict.exitCode)
    })

/** A span is counted back from the end, wherever that is. */
const readSince =
  ({ clock }: Io) =>
  (text: string): Since => {
    const ago = parseDuration(text.replace(/^-/, ''))
    return ago === undefined ? { at: readMoment(clock)(text) } : { ago }
  }

const namesOf = (file: string | null): KeyNames => {
  if (file !== null) return readNames(file)
  throw new ConfigError(
    'names.file is not set, and -n shows the names in it\n' +
      '  what to do: copy networks/names.example.yaml, fill it, and say --set names.file=/path/to/it',
  )
}

/** When to begin and to end, by the clock of this moment. Of a file, the end may be known only by its last line. */
const timesOf = ({ since, until, file }: MonlogOptions, io: Io, command: Command) => {
  const end = until ?? (file === undefined ? io.clock.now() : undefined)
  const length = since && ('ago' in since ? since.ago : (end ?? Number.NaN) - since.at)
  if (length !== undefined && length <= 0) command.error('error: --since is not before --until')
  if (length !== undefined && length > LONGEST_MS) {
    command.error('error: more than an hour lies between --since and --until')
  }
  return { since, until: end }
}

/** The newest lines only where they were asked for, and then as on the page. */
const asJson = (report: MonlogReport, nameOf: NameOf, wantsRaw: boolean) => ({
  ...report,
  newest: wantsRaw
    ? report.newest.map(({ at, text }) => ({ at, text: shownLine(text, nameOf, 400) }))
    : null,
})
