import { figure } from '../../core/format.ts'
import { Command, Option } from 'commander'
import { readNames } from '../../config/key-names.ts'
import { toJson } from '../../core/json.ts'
import { parseDuration } from '../../core/units.ts'
import { analyseLog } from './monlog.ts'
import type { MonlogReport } from './report.ts'
import { LONGEST_MS, type RangeStart } from './fold.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { readTime } from '../../cli/option-values.ts'
import { createNameOf, type RenderOptions, renderReport, shortLine, shownLine } from './page.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { readWatchSeconds, watch } from '../../cli/terminal/watch.ts'

interface MonlogOptions extends ConfigOptions {
  readonly raw?: true
  readonly names?: true
  readonly color: boolean
  readonly since?: RangeStart
  readonly until?: number
  readonly file?: string
  readonly json?: true
  /** Seconds; true is the default. */
  readonly watch?: number | true
}

/** Reading a minute of a log at DEBUG takes seconds of CPU time. */
const DEFAULT_WATCH_SECONDS = 10

/** `chain-agent monlog`: analyses the last 60 seconds of the consensus log. */
export const monlogCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('monlog'))
    .option('-r, --raw', 'also print the newest 10 log lines in full, with secrets redacted')
    .option('-n, --names', 'print names instead of keys, from the file set by names.file')
    .option('--no-color', 'without colour')
    .addOption(
      new Option('--since <time>', 'start: a duration such as 10m or a UTC time, at most 1 h before the end')
        .argParser(readSince(io))
        .default(undefined, '60s'),
    )
    .addOption(
      new Option('--until <time>', 'end, for a reproducible report')
        .argParser(readTime(io.clock))
        .default(undefined, 'now'),
    )
    .option('--file <file|->', 'read a file instead of the journal, or - for standard input')
    .option('--json', 'as JSON; with --watch one document per line')
    .addOption(
      new Option('--watch [seconds]', `refresh every N seconds (default ${DEFAULT_WATCH_SECONDS})`)
        .argParser(readWatchSeconds)
        .conflicts(['until', 'file']),
    )
    .addHelpText(
      'after',
      `
Each minute is analysed separately, and --since is rounded up to whole minutes. The health verdict is
that of the newest minute; earlier findings are listed with their time. Without names.file, -n shows
keys. --file reads output of \`journalctl -u UNIT --all -o json\`, or the lines as the service wrote
them; the analysis ends with the newest line. The last 60 seconds of a node at DEBUG take a second or
two to read. --watch needs a fraction of the CPU time of \`watch chain-agent monlog\`, which starts a
process each time.

Exit codes: 0 blocks are processed and committed, 1 something needs attention, 2 they are not, or that
is unknown.

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
      const analyse = async (): Promise<MonlogReport> => {
        const times = timesOf(options, io, command)
        const progress = createProgress(io)
        return await analyseLog({
          config,
          ...times,
          clock: io.clock,
          path: io.env['PATH'] ?? '/usr/bin:/bin',
          signal: io.signal,
          recording: options.file === '-' ? { name: 'standard input', bytes: io.stdin } : options.file,
          onLines: (lines) => progress.show(`Reading the log: ${figure(lines)} lines`),
          ...io.overrides,
        }).finally(progress.end)
      }
      const linesOf = (report: MonlogReport): readonly string[] => {
        if (options.json) return [JSON.stringify(toJson(asJson(report, page)))]
        const isPiped = !('isTTY' in io.stdout && io.stdout.isTTY === true)
        return options.watch !== undefined && isPiped ? [shortLine(report, page.style)] : renderReport(report, page)
      }
      if (options.watch !== undefined) {
        // Only the journal is read; no tool of the node runs.
        const refresh = async () => ({ lines: linesOf(await analyse()), isFromNode: false })
        await watch(io, { render: refresh, seconds: options.watch === true ? DEFAULT_WATCH_SECONDS : options.watch })
        exit(0)
        return
      }
      const report = await analyse()
      if (io.signal.aborted) {
        exit(2)
        return
      }
      io.stdout.write(`${linesOf(report).join('\n')}\n`)
      exit(report.verdict.exitCode)
    })

/** A duration counts back from the end of the range. */
const readSince =
  ({ clock }: Io) =>
  (text: string): RangeStart => {
    const ago = parseDuration(text.replace(/^-/, ''))
    return ago === undefined ? { at: readTime(clock)(text) } : { ago }
  }

/** Start and end of the range. The end of a file may be known only at its last line. */
const timesOf = ({ since, until, file, watch: follows }: MonlogOptions, io: Io, command: Command) => {
  if (follows !== undefined && since && 'at' in since) {
    command.error('error: with --watch, --since takes a duration such as 10m')
  }
  const end = until ?? (file === undefined ? io.clock.now() : undefined)
  const length = since && ('ago' in since ? since.ago : (end ?? Number.NaN) - since.at)
  if (length !== undefined && length <= 0) command.error('error: --since is not before --until')
  if (length !== undefined && length > LONGEST_MS) {
    command.error('error: --since is more than 1 h before --until')
  }
  return { since, until: end }
}

/** `newest` only with --raw, and in the format of the page. */
const asJson = (report: MonlogReport, { nameOf, wantsRaw }: Pick<RenderOptions, 'nameOf' | 'wantsRaw'>) => ({
  ...report,
  newest: wantsRaw ? report.newest.map(({ at, text }) => ({ at, text: shownLine(text, nameOf) })) : null,
})
