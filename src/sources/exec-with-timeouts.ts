import type { Clock } from '../core/clock.ts'
import { type Context, withDeadline } from '../core/collector.ts'
import { SourceError } from '../core/errors.ts'
import { minute, renderDuration, second } from '../core/units.ts'
import type { Exec, Program } from './exec.ts'

/** The same limit as the collectors use for a tool. */
const RUN_MS = 10 * second
/** Between two chunksWithTimeout of what is there already. */
const IDLE_MS = 30 * second
/** journalctl prints nothing while it searches a large journal. */
const SEARCH_MS = 5 * minute

/**
 * An Exec with time limits for interactive commands: a program that hangs fails after a while. Programs run with
 * --follow have no limit, and the time that the reader takes does not count.
 */
export const createExecWithTimeouts = (exec: Exec, clock: Clock): Exec => ({
  run: (program, signal) =>
    withTimeoutError(program, RUN_MS, () =>
      withDeadline({ clock, signal }, RUN_MS, (within) => exec.run(program, within.signal)),
    ),
  stream: (program, signal) => {
    const { args } = program
    if (args.includes('--follow')) return exec.stream(program, signal)
    const limit = args.some((word) => word.startsWith('--grep=')) ? SEARCH_MS : IDLE_MS
    return chunksWithTimeout({ exec, program, limit }, { clock, signal })
  },
  killAll: () => {
    exec.killAll()
  },
})

interface Streaming {
  readonly exec: Exec
  readonly program: Program
  readonly limit: number
}

async function* chunksWithTimeout(
  { exec, program, limit }: Streaming,
  { clock, signal }: Context,
): AsyncGenerator<Uint8Array> {
  const stop = new AbortController()
  const abort = (): void => {
    stop.abort()
  }
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const stream = exec.stream(program, stop.signal)
  let hasEnded = false
  try {
    for (;;) {
      const next = await withTimeoutError(program, limit, () =>
        withDeadline({ clock, signal: stop.signal }, limit, () => stream.next()),
      )
      if (next.done === true) {
        hasEnded = true
        return
      }
      yield next.value
    }
  } catch (error) {
    // Do not wait for a program that ignores signals.
    hasEnded = true
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    abort()
    if (!hasEnded) await stream.return(undefined)
  }
}

const withTimeoutError = async <T>({ command }: Program, limit: number, wait: () => Promise<T>): Promise<T> => {
  try {
    return await wait()
  } catch (error) {
    if (!(error instanceof SourceError) || !error.timeout) throw error
    const happened = `there was no output for ${renderDuration(limit)}`
    const advice = `check that \`${command}\` works, or request a shorter time range`
    throw new SourceError({ doing: `run ${command}`, happened, advice }, { timeout: true, cause: error })
  }
}
