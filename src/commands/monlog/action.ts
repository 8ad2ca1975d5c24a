import type { Command } from 'commander'
import { readNames } from '../../config/key-names.ts'
import { figure } from '../../core/format.ts'
import { toJson } from '../../core/json.ts'
import { diagnose, type Diagnosis } from '../../health/diagnosis.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { diagnosisDocument } from '../../terminal/diagnosis.ts'
import { type CommandContext, type Io, reportInterrupted, sourceContext } from '../../terminal/io.ts'
import { linesText, type OutputOptions } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { createStyle } from '../../terminal/style.ts'
import { watch } from '../../terminal/watch.ts'
import { LONGEST_MS, type RangeStart } from './fold.ts'
import { analyseLog } from './monlog.ts'
import { createNameOf, renderReport, type RenderOptions, shortLine, shownLine } from './page.ts'
import type { MonlogReport } from './report.ts'

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
  const analyse = async (): Promise<Analysis> => {
    const times = timesOf(options, io, command)
    const progress = createProgress(io)
    const [report, diagnosis] = await Promise.all([
      analyseLog({
        config,
        ...times,
        ...sourceContext(io),
        recording: options.file === '-' ? { name: 'standard input', bytes: io.stdin } : options.file,
        onLines: (lines) => progress.show(`Reading the log: ${figure(lines)} lines`),
      }).finally(progress.end),
      readDiagnosis(io, options),
    ])
    return { report, diagnosis }
  }
  const linesOf = ({ report, diagnosis }: Analysis): readonly string[] => {
    if (options.json) {
      const found = diagnosis && diagnosisDocument(diagnosis)
      return [JSON.stringify(toJson({ ...asJson(report, page), diagnosis: found }))]
    }
    const isPiped = !('isTTY' in io.stdout && io.stdout.isTTY === true)
    const shown = { ...page, head: diagnosis }
    return options.watch !== undefined && isPiped ? [shortLine(report, shown)] : renderReport(report, shown)
  }
  if (options.watch !== undefined) {
    // The journal and the running agent are read; no tool of the node runs.
    const refresh = async () => ({ lines: linesOf(await analyse()), isFromNode: false })
    await watch(io, { render: refresh, seconds: options.watch })
    exit(0)
    return
  }
  const analysis = await analyse()
  if (io.signal.aborted) {
    // The status is unknown.
    reportInterrupted(io, () => exit(2), { hasOutput: false })
    return
  }
  io.stdout.write(linesText(linesOf(analysis)))
  const { report, diagnosis } = analysis
  exit(diagnosis && diagnosis.exitCode > report.log.exitCode ? diagnosis.exitCode : report.log.exitCode)
}

interface Analysis {
  readonly report: MonlogReport
  /** That of the node now; null if the log is of another time or from a file. */
  readonly diagnosis: Diagnosis | null
}

/** With --watch only from a running agent: to read the node runs its tools. */
const readDiagnosis = async (io: Io, options: MonlogOptions): Promise<Diagnosis | null> => {
  const { file, until, watch: follows } = options
  if (file !== undefined || until !== undefined) return null
  // A recording needs none of it, and it takes most of the time until the recording is read.
  const { readFromAgent, readSnapshot } = await import('../shared/read-snapshot.ts')
  try {
    const snapshot =
      follows === undefined
        ? (await readSnapshot(io, options)).snapshot
        : await readFromAgent(io, nodeConfigOf(io, options).config)
    return snapshot && diagnose(snapshot)
  } catch (error) {
    // An aborted operation may throw any error.
    if (io.signal.aborted) return null
    throw error
  }
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
