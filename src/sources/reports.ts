import type { Exec } from './exec.ts'
import { stat } from 'node:fs/promises'
import { pastTime } from '../core/bounds.ts'
import type { Clock } from '../core/clock.ts'
import { staleAfter, type Timing } from '../core/collector.ts'
import { SourceError, throwFileError } from '../core/errors.ts'
import { atFile, readText } from '../core/files.ts'
import { renderDuration } from '../core/units.ts'

/** The text of a report: of a tool of the node, or of one that a privileged unit writes. */
export type ReadReport = (signal: AbortSignal) => Promise<string>

interface NodeTool {
  readonly exec: Exec
  /** The tool's name, including the name prefix. */
  command(signal: AbortSignal): Promise<string>
}

/** Runs the tool with `--storage` only: it has options that rewrite the database. */
export const createStorageTool =
  ({ exec, command, devices }: NodeTool & { readonly devices: readonly string[] }): ReadReport =>
  async (signal) => {
    const args = devices.flatMap((device) => ['--storage', device])
    return (await exec.run({ command: await command(signal), args }, signal)).stdout
  }

/** The tool uses the node's control socket and decrypts a key: give it time to exit cleanly. */
const GRACE_MS = 30_000

export const createStatusTool =
  ({ exec, command }: NodeTool): ReadReport =>
  async (signal) => {
    const program = { command: await command(signal), args: [], grace: GRACE_MS }
    return (await exec.run(program, signal)).stdout
  }

const MAX_BYTES = 1024 * 1024

/**
 * `what`: "the storage report". `unit` writes it, without `.service`. The reader throws a SourceError if the file is
 * missing, too old or too large.
 */
const reportFrom =
  (what: string, unit: string) =>
  (config: Timing & { readonly reportFile: string | null }, clock: Clock): ReadReport | null => {
    const { reportFile: path } = config
    const maxAge = staleAfter(config)
    const doing = `read ${what} in ${path}`
    const advice = `check \`systemctl status ${unit}.timer ${unit}.service\``
    if (path === null) return null
    return async () => {
      const failed = throwFileError({ doing, advice })
      const { mtimeMs } = await atFile(path, () => stat(path)).catch(failed)
      const writtenAt = pastTime(mtimeMs, clock.now())
      if (writtenAt === null)
        throw new SourceError({ doing, happened: 'its modification time is later than now, or not set', advice })
      if (clock.now() - writtenAt > maxAge) {
        throw new SourceError({ doing, happened: `it is older than ${renderDuration(maxAge)}`, advice })
      }
      return readText(path, MAX_BYTES).catch(failed)
    }
  }

/** The report on key files; null if the agent reads the files itself. */
export const createKeyReport = reportFrom('the report on key files', 'chain-agent-keys')

/** The report of the storage tool; null if the agent runs the tool itself. */
export const createStorageReport = reportFrom('the storage report', 'chain-agent-storage')
