import { addAbortSignal } from 'node:stream'
import { describeFileError, SourceError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import { createLineSplitter, type Line } from '../../sources/streams.ts'
import { type ActionContext, type Io, writeAll } from '../../terminal/io.ts'
import { respond } from './protocol.ts'
import type { RunCli } from './tools.ts'

/** Answers messages, one JSON value a line, until the input ends; the calls that run then are still answered. */
export const serveMcp =
  (runCli: RunCli) =>
  async ({ io, exit, options }: ActionContext<{ readonly config?: string }>): Promise<void> => {
    const running = new Set<Promise<unknown>>()
    for await (const line of linesOf(io)) {
      const answered = respond(line, { io, file: options.config, runCli })
        .then(async (response) => response && writeAll(io, `${JSON.stringify(response)}\n`))
        .finally(() => running.delete(answered))
      running.add(answered)
      // Until one of them ends, no more is read.
      if (running.size >= LIMITS.mcp.calls) await Promise.race(running)
    }
    await Promise.all(running)
    exit(0)
  }

/** The lines of standard input, until it ends or the command is interrupted. */
async function* linesOf({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>): AsyncGenerator<Line> {
  const split = createLineSplitter(LIMITS.mcp.lineBytes)
  try {
    const input: AsyncIterable<Uint8Array> = addAbortSignal(signal, stdin)
    for await (const chunk of input) yield* split(chunk)
    // The last line may have no line break.
    yield* split(Buffer.from('\n'))
  } catch (error) {
    if (!signal.aborted)
      throw new SourceError({ doing: 'read standard input', ...describeFileError(error) }, { cause: error })
  }
}
