import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '../core/clock.ts'
import { SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'
import { renderDuration } from '../core/units.ts'
import type { Exec } from './exec.ts'

/** The report of the node's database tool, wherever it comes from. */
export type ReadStorage = (signal: AbortSignal) => Promise<string>

interface Tool {
  readonly exec: Exec
  /** The whole name of the tool. */
  command(signal: AbortSignal): Promise<string>
  readonly devices: readonly string[]
}

/** Runs the tool. Nothing but `--storage` is ever passed: it has options that rewrite the database. */
export const createStorageTool =
  ({ exec, command, devices }: Tool): ReadStorage =>
  async (signal) => {
    const args = devices.flatMap((device) => ['--storage', device])
    return (await exec.run({ command: await command(signal), args }, signal)).stdout
  }

interface File {
  readonly path: string
  readonly clock: Clock
  /** A report older than this, in milliseconds, tells nothing of now. */
  readonly maxAge: number
}

const MAX_BYTES = 1024 * 1024

/** Reads the report that a privileged unit writes, while it is fresh. */
export const createStorageFile =
  ({ path, clock, maxAge }: File): ReadStorage =>
  async () => {
    const doing = `read the storage report in ${path}`
    const advice = 'see `systemctl status chain-agent-storage.timer chain-agent-storage.service`'
    const { mtimeMs, size } = await stat(path).catch((error: unknown) => {
      throw new SourceError({ doing, happened: asError(error).message, advice }, { cause: error })
    })
    if (clock.now() - mtimeMs > maxAge) {
      const happened = `it is older than ${renderDuration(maxAge)}`
      throw new SourceError({ doing, happened, advice })
    }
    if (size > MAX_BYTES) throw new SourceError({ doing, happened: 'it is no report: too large' })
    return readFile(path, 'utf8')
  }
