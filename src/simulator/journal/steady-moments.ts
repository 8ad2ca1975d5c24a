import type { Condition } from '../scenario/condition.ts'
import type { Steady } from '../scenario/logs.ts'
import type { Timeline } from '../scenario/timeline.ts'

interface Stretch {
  /** After this, and not after `toMs`. */
  readonly fromMs: number
  readonly toMs: number
}

/** The moments, evenly spread, of what a scenario lets come so many times a second, each with its number. */
export function* steadyMoments(
  { segments }: Timeline,
  steadyIn: (condition: Condition) => Steady | undefined,
  { fromMs, toMs }: Stretch,
): Generator<{ readonly atMs: number; readonly number: number }> {
  for (const [index, segment] of segments.entries()) {
    const steady = steadyIn(segment.condition)
    const endMs = segments[index + 1]?.fromMs ?? Infinity
    if (!steady || endMs <= fromMs || segment.fromMs > toMs) continue
    const msPerLine = 1000 / steady.perSecond
    const first = Math.max(segment.fromMs, fromMs + 1) - steady.fromMs
    for (let number = Math.max(0, Math.ceil(first / msPerLine)); ; number += 1) {
      const atMs = steady.fromMs + Math.floor(number * msPerLine)
      if (atMs > toMs || atMs >= endMs) break
      if (atMs > fromMs) yield { atMs, number }
    }
  }
}
