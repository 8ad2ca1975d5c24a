import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '../core/clock.ts'
import { staleAfter, type Timing } from '../core/collector.ts'
import { SourceError } from '../core/errors.ts'
import { accountOf } from '../core/file-errors.ts'
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
  /** A report older than this, in milliseconds, tells nothing of now. */
  readonly maxAge: number
}

const MAX_BYTES = 1024 * 1024

interface Asked {
  /** Null where the agent looks for itself. */
  readonly reportFile: string | null
}

/** The report on key files; null where the agent looks for itself. */
export const createKeyReport = (asked: Asked & Timing, clock: Clock): ReadReport | null =>
  asked.reportFile === null
    ? null
    : createReportFile({
        path: asked.reportFile,
        what: 'the report on key files',
        unit: 'chain-agent-keys',
        clock,
        maxAge: staleAfter(asked),
      })

/** The report of the database's tool; null where the agent runs it itself. */
export const createStorageReport = (asked: Asked & Timing, clock: Clock): ReadReport | null =>
  asked.reportFile === null
    ? null
    : createReportFile({
        path: asked.reportFile,
        what: 'the storage report',
        unit: 'chain-agent-storage',
        clock,
        maxAge: staleAfter(asked),
      })

/** Reads it while it is fresh. */
const createReportFile =
  ({ path, what, unit, clock, maxAge }: ReportFile): ReadReport =>
  async () => {
    const doing = `read ${what} in ${path}`
    const advice = `see \`systemctl status ${unit}.timer ${unit}.service\``
    const { mtimeMs, size } = await stat(path).catch((error: unknown) => {
      throw new SourceError(
        { doing, happened: accountOf(error).happened, advice },
        { cause: error },
      )
    })
    if (clock.now() - mtimeMs > maxAge) {
      const happened = `it is older than ${renderDuration(maxAge)}`
      throw new SourceError({ doing, happened, advice })
    }
    if (size > MAX_BYTES) throw new SourceError({ doing, happened: 'it is no report: too large' })
    return readFile(path, 'utf8')
  }
