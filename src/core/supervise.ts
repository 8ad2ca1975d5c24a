import type { Board } from './board.ts'
import type { Collector, Context } from './collector.ts'
import { SourceError } from './errors.ts'
import { attempt } from './outcome.ts'
import { minute, second } from './units.ts'

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
    if (clock.elapsed() - started > minute) failures = 0
    await clock.sleep(backoff(failures), signal)
  }
}

const endedEarly = (name: string): SourceError =>
  new SourceError({ doing: `go on following (${name})`, happened: 'the stream ended' })

/** 1 s, 2 s, 4 s … up to a minute. */
const backoff = (failures: number): number => Math.min(second * 2 ** failures, minute)
