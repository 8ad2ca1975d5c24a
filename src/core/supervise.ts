import type { Board } from './board.ts'
import type { Collector, Context, Timing } from './collector.ts'
import { SourceError } from './errors.ts'
import { attempt } from './outcome.ts'
import { second } from './units.ts'

/** Keeps one collector running until the signal aborts, waiting longer each time it ends early. */
export const supervise = async <Reading>(
  collector: Collector<Reading>,
  board: Board,
  context: Context,
): Promise<void> => {
  const { clock, signal } = context
  const report = board.admit(collector)
  for (let failures = 0; !signal.aborted; failures += 1) {
    const started = clock.elapsed()
    const { at, ...ended } = await attempt(clock, () => collector.run(context, report))
    if (signal.aborted) return
    report({ ok: false, error: ended.ok ? endedEarly(collector.name) : ended.error, at })
    const { longest } = waits(collector.timing)
    if (clock.elapsed() - started > longest) failures = 0
    await clock.sleep(backoff(failures, collector.timing), signal)
  }
}

const endedEarly = (name: string): SourceError =>
  new SourceError({ doing: `go on following (${name})`, happened: 'the stream ended' })

/** 1 s, 2 s, 4 s … up to two intervals: minutes count, and we must see soon that a thing is back. */
const backoff = (failures: number, timing: Timing): number => {
  const { first, longest } = waits(timing)
  return Math.min(first * 2 ** failures, longest)
}

const waits = ({ interval }: Timing) => ({
  first: Math.min(second, interval),
  longest: 2 * interval,
})
