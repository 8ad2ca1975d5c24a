import type { Clock } from '../core/clock.ts'
import { type Context, withDeadline } from '../core/collector.ts'
import { SourceError } from '../core/errors.ts'
import { minute, renderDuration, second } from '../core/units.ts'
import type { Exec, Program } from './exec.ts'

/** As long as the collectors wait for a tool. */
const RUN_MS = 10 * second
/** Between two pieces of what is there already. */
const IDLE_MS = 30 * second
/** A journal of gigabytes is searched in silence. */
const SEARCH_MS = 5 * minute

/**
 * Programs for a command that somebody waits for: one that hangs is an error after a while. Who follows
 * what is yet to come waits as long as he likes, and the time that a reader takes does not count.
 */
export const createPatientExec = (exec: Exec, clock: Clock): Exec => ({
  run: (program, signal) =>
    withPatience(program, RUN_MS, () =>
      withDeadline({ clock, signal }, RUN_MS, (within) => exec.run(program, within.signal)),
    ),
  stream: (program, signal) => {
    const { args } = program
    if (args.includes('--follow')) return exec.stream(program, signal)
    const limit = args.some((word) => word.startsWith('--grep=')) ? SEARCH_MS : IDLE_MS
    return pieces({ exec, program, limit }, { clock, signal })
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

async function* pieces(
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
      const next = await withPatience(program, limit, () =>
        withDeadline({ clock, signal: stop.signal }, limit, () => stream.next()),
      )
      if (next.done === true) {
        hasEnded = true
        return
      }
      yield next.value
    }
  } catch (error) {
    // One that ignores every signal is not waited for.
    hasEnded = true
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    abort()
    if (!hasEnded) await stream.return(undefined)
  }
}

const withPatience = async <T>(
  { command }: Program,
  limit: number,
  wait: () => Promise<T>,
): Promise<T> => {
  try {
    return await wait()
  } catch (error) {
    if (!(error instanceof SourceError) || !error.timeout) throw error
    const happened = `it said nothing for ${renderDuration(limit)}`
    const advice = `see whether \`${command}\` answers at all, or ask for a shorter time`
    throw new SourceError(
      { doing: `run ${command}`, happened, advice },
      { timeout: true, cause: error },
    )
  }
}
