import type { Clock } from '../core/clock.ts'
import { asError } from '../core/errors.ts'
import type { Exec } from './exec.ts'

/** What a tool printed last, or why it failed. Not redacted. */
export interface LastOutput {
  readonly command: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly output: string
}

const MAX_TOOLS = 16
const MAX_LENGTH = 32 * 1024
/** Their output is read as the journals, and as the states of services and packages. */
const LEFT_OUT = ['journalctl', 'systemctl', 'dpkg-query']

/** An Exec that keeps the last output of each tool. */
export const keepLastOutputs = (exec: Exec, clock: Clock) => {
  const outputs = new Map<string, LastOutput>()
  const keep = (name: string, output: string): void => {
    const command = name.slice(name.lastIndexOf('/') + 1)
    if (LEFT_OUT.includes(command) || (!outputs.has(command) && outputs.size >= MAX_TOOLS)) return
    outputs.set(command, { command, at: clock.now(), output: output.slice(0, MAX_LENGTH) })
  }
  const kept: Exec = {
    ...exec,
    run: async (program, signal) => {
      try {
        const output = await exec.run(program, signal)
        // What a version prints is no state.
        if (!program.args.includes('--version')) keep(program.command, output.stdout)
        return output
      } catch (error) {
        keep(program.command, asError(error).message)
        throw error
      }
    },
  }
  return { exec: kept, outputs: (): readonly LastOutput[] => [...outputs.values()] }
}
