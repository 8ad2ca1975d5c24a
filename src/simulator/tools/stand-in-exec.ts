import { basename } from 'node:path'
import { SourceError } from '../../core/errors.ts'
import type { Tool } from './tools.ts'

/** As the agent asks for programs, told in the simulator's own words: it knows no part of the agent. */
interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly answers?: readonly number[]
}

interface StandInExec {
  run(
    program: Program,
    signal: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>
  stream(program: Program, signal: AbortSignal): AsyncGenerator<Uint8Array>
  killAll(): void
}

interface Ended {
  stdout: string
  stderr: string
  end: number | string
}

/**
 * Runs the simulator's tools as functions, without processes: the same bytes at no cost, so that an
 * hour of a node's life can be rehearsed in seconds on a clock that is moved by hand, and a hundred nodes
 * in one process.
 */
export const createStandInExec = (tools: Readonly<Record<string, Tool>>): StandInExec => {
  const toolOf = ({ command, args }: Program): Tool => {
    const tool = tools[basename(command)]
    if (tool) return tool
    const doing = `run ${command} ${args[0] ?? ''}`.trim()
    throw new SourceError({ doing, happened: `there is no ${command} on PATH` })
  }
  const play = async (program: Program, signal: AbortSignal): Promise<Ended> => {
    const ended: Ended = { stdout: '', stderr: '', end: 'nothing' }
    for await (const frame of toolOf(program)(program.args, signal)) {
      if ('stdout' in frame) ended.stdout += frame.stdout
      if ('stderr' in frame) ended.stderr += frame.stderr
      if ('exit' in frame) ended.end = frame.exit
      if ('signal' in frame) ended.end = frame.signal
    }
    return ended
  }
  return {
    run: async (program, signal) => {
      const { stdout, stderr, end } = await play(program, signal)
      if (typeof end !== 'number' || !(program.answers ?? [0]).includes(end)) {
        throw failure(program, { stdout, stderr, end })
      }
      return { exitCode: end, stdout, stderr }
    },
    async *stream(program, signal) {
      let stderr = ''
      let end: number | string = 0
      for await (const frame of toolOf(program)(program.args, signal)) {
        if ('stdout' in frame) yield Buffer.from(frame.stdout)
        if ('stderr' in frame) stderr += frame.stderr
        if ('exit' in frame) end = frame.exit
      }
      if (typeof end === 'number' && program.answers?.includes(end)) return
      throw failure(program, { stdout: '', stderr, end })
    },
    killAll: () => undefined,
  }
}

const failure = ({ command, args }: Program, { stderr, end }: Ended): SourceError =>
  new SourceError(
    {
      doing: `run ${command} ${args[0] ?? ''}`.trim(),
      happened: typeof end === 'number' ? `exit code ${end}` : `killed by ${end}`,
      evidence: stderr.trim().split('\n').slice(-3).join('\n'),
    },
    { output: stderr },
  )
