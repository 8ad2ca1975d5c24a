import { basename } from 'node:path'
import { SourceError } from '../../../../src/core/errors.ts'
import { widen } from '../../../../src/core/widen.ts'
import { redactUrl } from '../../../../src/core/redaction/redact.ts'
import type { Exec, Program } from '../../../../src/sources/exec.ts'
import type { HttpRequest } from '../../../../src/sources/http.ts'
import type { Endpoint } from '../../../endpoints.ts'
import type { Tool } from '../../../tools/tools.ts'

/**
 * Runs the simulator's tools as functions, without processes. The output is the same and costs nothing: an hour of a
 * node can be simulated in seconds on a manual clock, and a hundred nodes can run in one process.
 */
export const createInProcessExec = (tools: Readonly<Record<string, Tool>>): Exec => {
  const toolOf = ({ command, args }: Program): Tool => {
    const tool = tools[basename(command)]
    if (tool) return tool
    const doing = `run ${command} ${args[0] ?? ''}`.trim()
    throw new SourceError({ doing, happened: `there is no ${command} on PATH` })
  }
  const play = async (program: Program, signal: AbortSignal) => {
    const ended = { stdout: '', stderr: '', end: widen<number | string>('nothing') }
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
        throw failure(program, stderr, end)
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
      throw failure(program, stderr, end)
    },
    killAll: () => undefined,
  }
}

const failure = ({ command, args }: Program, stderr: string, end: number | string): SourceError =>
  new SourceError(
    {
      doing: `run ${command} ${args[0] ?? ''}`.trim(),
      happened: typeof end === 'number' ? `exit code ${end}` : `killed by ${end}`,
      evidence: stderr.trim().split('\n').slice(-3).join('\n'),
    },
    { output: stderr },
  )

/**
 * Handles the agent's HTTP requests by calling the simulator's endpoints, by scheme, host and port, without a
 * connection. The promise rejects with a SourceError (ECONNREFUSED) if no endpoint listens there.
 */
export const createInProcessHttp =
  (endpoints: ReadonlyMap<string, Endpoint>) =>
  // oxlint-disable-next-line typescript/require-await -- an error must be a rejection
  async ({ url, init }: Pick<HttpRequest, 'url' | 'init'>) => {
    const { origin, pathname: path } = new URL(url)
    const endpoint = endpoints.get(origin)
    if (!endpoint?.isOpen()) {
      throw new SourceError({ doing: `request ${redactUrl(url)}`, happened: 'no connection (ECONNREFUSED)' })
    }
    return endpoint.answer({ method: init?.method ?? 'GET', path, body: init?.body ?? '' })
  }
