import type { Exec } from './exec.ts'

/** The text of the node's own status report. */
export type ReadStatus = (signal: AbortSignal) => Promise<string>

interface Tool {
  readonly exec: Exec
  /** The whole name of the tool. */
  command(signal: AbortSignal): Promise<string>
}

/** It talks to the node's control socket and decrypts a key: it is given time to end in good order. */
const GRACE_MS = 30_000

export const createStatusTool =
  ({ exec, command }: Tool): ReadStatus =>
  async (signal) => {
    const program = { command: await command(signal), args: [], grace: GRACE_MS }
    return (await exec.run(program, signal)).stdout
  }
