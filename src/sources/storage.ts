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
