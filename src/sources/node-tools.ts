import type { Exec } from './exec.ts'

/** The report of the node's storage tool, from any source. */
export type ReadStorage = (signal: AbortSignal) => Promise<string>

interface NodeTool {
  readonly exec: Exec
  /** The tool's name, including the name prefix. */
  command(signal: AbortSignal): Promise<string>
}

/** Runs the tool with `--storage` only: it has options that rewrite the database. */
export const createStorageTool =
  ({ exec, command, devices }: NodeTool & { readonly devices: readonly string[] }): ReadStorage =>
  async (signal) => {
    const args = devices.flatMap((device) => ['--storage', device])
    return (await exec.run({ command: await command(signal), args }, signal)).stdout
  }

/** The text of the node's own status report. */
export type ReadStatus = (signal: AbortSignal) => Promise<string>

/** The tool uses the node's control socket and decrypts a key: give it time to exit cleanly. */
const GRACE_MS = 30_000

export const createStatusTool =
  ({ exec, command }: NodeTool): ReadStatus =>
  async (signal) => {
    const program = { command: await command(signal), args: [], grace: GRACE_MS }
    return (await exec.run(program, signal)).stdout
  }
