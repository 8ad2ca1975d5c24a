import { setMaxListeners } from 'node:events'
import type { Board } from './board.ts'
import { backoff, type Clock, type Context } from './clock.ts'
import { attempt, type Collector } from './collector.ts'
import { SourceError } from './errors.ts'
import { second } from './units.ts'

interface Selected {
  readonly collector: Collector<unknown>
  readonly enabled: boolean
}

interface Running {
  readonly collector: Collector<unknown>
  readonly stopping: AbortController
  readonly ended: Promise<void>
}

export const createSupervisor = (board: Board, clock: Clock) => {
  const running = new Map<string, Running>()
  let isStopped = false

  const start = (collector: Collector<unknown>): void => {
    const stopping = new AbortController()
    // Reads in progress add listeners; Node warns about a leak at more than ten.
    setMaxListeners(100, stopping.signal)
    const ended = supervise(collector, board, { clock, signal: stopping.signal })
    running.set(collector.name, { collector, stopping, ended })
  }
  const stop = async ({ collector, stopping, ended }: Running): Promise<void> => {
    stopping.abort()
    await ended
    running.delete(collector.name)
  }
  const apply = async ({ collector, enabled }: Selected): Promise<readonly string[]> => {
    const { name } = collector
    const before = running.get(name)
    const isChanged = before?.collector !== (enabled ? collector : undefined)
    if (before && isChanged) await stop(before)
    if (isStopped) return []
    if (!enabled) board.disable(collector)
    else if (isChanged) start(collector)
    return isChanged ? [name] : []
  }

  return {
    /**
     * Runs this selection: collectors that already run with the same settings continue; all others are stopped and, if
     * enabled, started. Returns the names of those that were started or stopped.
     */
    run: async (selection: readonly Selected[]): Promise<readonly string[]> =>
      (await Promise.all(selection.map(apply))).flat(),
    stop: async (): Promise<void> => {
      isStopped = true
      await Promise.all([...running.values()].map(stop))
    },
  }
}

/** Runs a collector until the signal aborts, restarting it with increasing delays when it ends early. */
export const supervise = async <Reading>(
  collector: Collector<Reading>,
  board: Board,
  context: Context,
): Promise<void> => {
  const { clock, signal } = context
  const report = board.register(collector)
  for (let failures = 0; !signal.aborted; failures += 1) {
    const started = clock.elapsed()
    const { at, ...ended } = await attempt(clock, () => collector.run(context, report))
    if (signal.aborted) return
    report({ ok: false, error: ended.ok ? endedEarly(collector.name) : ended.error, at })
    // 1 s, 2 s, 4 s … up to two intervals: recovery must be noticed soon.
    const { interval } = collector.timing
    if (clock.elapsed() - started > 2 * interval) failures = 0
    await clock.sleep(backoff(failures + 1, Math.min(second, interval), 2 * interval), signal)
  }
}

const endedEarly = (name: string): SourceError =>
  new SourceError({ doing: `continue following (${name})`, happened: 'the stream ended' })
