import { figure } from '../../core/format.ts'
import type { Command } from 'commander'
import { readNames } from '../../config/key-names.ts'
import { toJson } from '../../core/json.ts'
import { analyseLog } from './monlog.ts'
import type { MonlogReport } from './report.ts'
import { LONGEST_MS, type RangeStart } from './time-range.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type Io, type CommandContext, sourceContext } from '../../terminal/io.ts'
import { renderReport, type RenderOptions, shortLine } from './page.ts'
import { createNameOf, shownLine } from './rows.ts'
import { createProgress } from '../../terminal/progress.ts'
import { linesText, type OutputOptions } from '../../terminal/output.ts'
import { createStyle } from '../../terminal/style.ts'
import { watch } from '../../terminal/watch.ts'

interface MonlogOptions extends ConfigOptions, OutputOptions {
  readonly raw?: true
  readonly names?: true
  readonly since?: RangeStart
  readonly until?: number
  readonly file?: string
  /** The interval in seconds. */
  readonly watch?: number
}

export const printAnalysis = async ({ io, exit, options, command }: CommandContext<MonlogOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
  const { file: namesFile } = config.names
  const names = options.names && namesFile !== null ? readNames(namesFile) : undefined
  const page = {
    style: createStyle(io),
    nameOf: createNameOf(names ?? new Map()),
    isNamesFileMissing: options.names === true && names === undefined,
    ownKey: config.node.publicKey,
    wantsRaw: options.raw === true,
  }
  const analyse = async (): Promise<MonlogReport> => {
    const times = timesOf(options, io, command)
    const progress = createProgress(io)
    return await analyseLog({
      config,
      ...times,
      ...sourceContext(io),
      recording: options.file === '-' ? { name: 'standard input', bytes: io.stdin } : options.file,
      onLines: (lines) => progress.show(`Reading the log: ${figure(lines)} lines`),
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
    await watch(io, { render: refresh, seconds: options.watch })
    exit(0)
    return
  }
  const report = await analyse()
  if (io.signal.aborted) {
    exit(2)
    return
  }
  io.stdout.write(linesText(linesOf(report)))
  exit(report.verdict.exitCode)
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
