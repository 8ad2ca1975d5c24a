import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '../core/clock.ts'
import { staleAfter, type Timing } from '../core/collector.ts'
import { SourceError } from '../core/errors.ts'
import { describeFileError } from '../core/file-errors.ts'
import { renderDuration } from '../core/units.ts'

/** The text of a report that a privileged unit writes. */
export type ReadReport = (signal: AbortSignal) => Promise<string>

interface ReportFile {
  readonly path: string
  /** "the report on key files". */
  readonly what: string
  /** The unit that writes it, without `.service`. */
  readonly unit: string
  readonly clock: Clock
  /** The maximum age in milliseconds; an older report is rejected. */
  readonly maxAge: number
}

const MAX_BYTES = 1024 * 1024

interface ReportConfig {
  /** Null if the agent reads the state itself. */
  readonly reportFile: string | null
}

/** The report on key files; null if the agent reads the files itself. */
export const createKeyReport = (config: ReportConfig & Timing, clock: Clock): ReadReport | null =>
  config.reportFile === null
    ? null
    : createReportFile({
        path: config.reportFile,
        what: 'the report on key files',
        unit: 'chain-agent-keys',
        clock,
        maxAge: staleAfter(config),
      })

/** The report of the storage tool; null if the agent runs the tool itself. */
export const createStorageReport = (config: ReportConfig & Timing, clock: Clock): ReadReport | null =>
  config.reportFile === null
    ? null
    : createReportFile({
        path: config.reportFile,
        what: 'the storage report',
        unit: 'chain-agent-storage',
        clock,
        maxAge: staleAfter(config),
      })

/** Reads the report. Throws a SourceError if it is missing, too old or too large. */
const createReportFile =
  ({ path, what, unit, clock, maxAge }: ReportFile): ReadReport =>
  async () => {
    const doing = `read ${what} in ${path}`
    const advice = `check \`systemctl status ${unit}.timer ${unit}.service\``
    const { mtimeMs, size } = await stat(path).catch((error: unknown) => {
      throw new SourceError({ doing, happened: describeFileError(error).happened, advice }, { cause: error })
    })
    if (clock.now() - mtimeMs > maxAge) {
      const happened = `it is older than ${renderDuration(maxAge)}`
      throw new SourceError({ doing, happened, advice })
    }
    if (size > MAX_BYTES) throw new SourceError({ doing, happened: 'it is too large for a report' })
    return readFile(path, 'utf8')
  }
