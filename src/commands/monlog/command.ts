import { figure } from '../../core/format.ts'
import { Command, Option } from 'commander'
import { readNames } from '../../config/key-names.ts'
import { toJson } from '../../core/json.ts'
import { parseDuration } from '../../core/units.ts'
import { analyseLog } from './monlog.ts'
import type { MonlogReport } from './report.ts'
import { LONGEST_MS, type Since } from './stretch.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { readMoment } from '../../cli/time-option.ts'
import { renderReport, type Show, shortLine } from './page.ts'
import { createNameOf, shownLine } from './words.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { readWatchSeconds, watch } from '../../cli/terminal/refresh.ts'

interface MonlogOptions extends ConfigOptions {
  readonly raw?: true
  readonly names?: true
  readonly color: boolean
  readonly since?: Since
  readonly until?: number
  readonly file?: string
  readonly json?: true
  /** Seconds; true is the default. */
  readonly watch?: number | true
}

/** Reading a minute of a log under DEBUG takes seconds of CPU time. */
const USUAL_SECONDS = 10

/** `chain-agent monlog`: what the consensus log of the last 60 seconds says. */
export const monlogCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('monlog'))
    .description('analyse the last 60 seconds of the consensus log: verdict, findings, what to do')
    .option('-r, --raw', 'also the newest 10 lines of the log, complete, secrets redacted')
    .option('-n, --names', 'names instead of keys, from the file that names.file sets')
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
    .option('--json', 'as JSON; with --watch one document per line')
    .addOption(
      new Option('--watch [seconds]', `refresh every N seconds (default ${USUAL_SECONDS})`)
        .argParser(readWatchSeconds)
        .conflicts(['until', 'file']),
    )
    .addHelpText(
      'after',
      `
Each minute is looked at by itself, and --since is rounded up to whole minutes. The verdict is that of
the newest minute; what was found before it is told with its time. Without names.file, -n shows keys.
--file takes what
\`journalctl -u UNIT --all -o json\` prints, or the lines as the service wrote them, and ends with the
newest line in it. The last 60 seconds of a node under DEBUG take a second or two to read. --watch
needs a fraction of the CPU time of \`watch chain-agent monlog\`, which starts a process each time.

Exit codes: 0 blocks are processed and committed, 1 something asks for attention, 2 they are not, or
that cannot be told.

Examples:
  chain-agent monlog
  chain-agent monlog --watch
  chain-agent monlog -r -n
  chain-agent monlog --since 15m
  chain-agent monlog --since '2026-05-02 08:00' --until '2026-05-02 08:10'
  zcat node.log.gz | chain-agent monlog --file -`,
    )
    .action(async (options: MonlogOptions, command: Command) => {
      const { config } = configOf(io, options)
      const { file: namesFile } = config.names
      const names = options.names && namesFile !== null ? readNames(namesFile) : undefined
      const page = {
        style: createStyle(io, { color: options.color }),
        nameOf: createNameOf(names ?? new Map()),
        lacksNames: options.names === true && names === undefined,
        ownKey: config.node.publicKey,
        wantsRaw: options.raw === true,
      }
      const read = async (): Promise<MonlogReport> => {
        const times = timesOf(options, io, command)
        const progress = createProgress(io)
        return await analyseLog({
          config,
          ...times,
          clock: io.clock,
          path: io.env['PATH'] ?? '/usr/bin:/bin',
          signal: io.signal,
          recording:
            options.file === '-' ? { name: 'standard input', bytes: io.stdin } : options.file,
          onLines: (lines) => progress.say(`Reading the log: ${figure(lines)} lines`),
          ...io.standIns,
        }).finally(progress.end)
      }
      const linesOf = (report: MonlogReport): readonly string[] => {
        if (options.json) return [JSON.stringify(toJson(asJson(report, page)))]
        const isPiped = !('isTTY' in io.stdout && io.stdout.isTTY === true)
        return options.watch !== undefined && isPiped
          ? [shortLine(report, page.style)]
          : renderReport(report, page)
      }
      if (options.watch !== undefined) {
        // Only the journal is read: no tool of the node runs.
        const look = async () => ({ lines: linesOf(await read()), isOfNode: false })
        await watch(io, { look, seconds: options.watch === true ? USUAL_SECONDS : options.watch })
        exit(0)
        return
      }
      const report = await read()
      if (io.signal.aborted) {
        exit(2)
        return
      }
      io.stdout.write(`${linesOf(report).join('\n')}\n`)
      exit(report.verdict.exitCode)
    })

/** A span is counted back from the end, wherever that is. */
const readSince =
  ({ clock }: Io) =>
  (text: string): Since => {
    const ago = parseDuration(text.replace(/^-/, ''))
    return ago === undefined ? { at: readMoment(clock)(text) } : { ago }
  }

/** When to begin and to end, by the clock of this moment. Of a file, the end may be known only by its last line. */
const timesOf = (
  { since, until, file, watch: follows }: MonlogOptions,
  io: Io,
  command: Command,
) => {
  if (follows !== undefined && since && 'at' in since) {
    command.error('error: with --watch, --since takes a time span such as 10m')
  }
  const end = until ?? (file === undefined ? io.clock.now() : undefined)
  const length = since && ('ago' in since ? since.ago : (end ?? Number.NaN) - since.at)
  if (length !== undefined && length <= 0) command.error('error: --since is not before --until')
  if (length !== undefined && length > LONGEST_MS) {
    command.error('error: more than an hour lies between --since and --until')
  }
  return { since, until: end }
}

/** The newest lines only where they were asked for, and then as on the page. */
const asJson = (report: MonlogReport, { nameOf, wantsRaw }: Pick<Show, 'nameOf' | 'wantsRaw'>) => ({
  ...report,
  newest: wantsRaw
    ? report.newest.map(({ at, text }) => ({ at, text: shownLine(text, nameOf) }))
    : null,
})
