import type { HistogramName, LabelArgument, CounterName } from './metric.ts'

/**
 * Where a collector puts what it observes event by event. Readings go to the board and vanish when
 * they are stale; what is recorded here is a fact about what the agent saw, and stays.
 */
export interface Recorder {
  /** Adds `by` to a tally. Counting 0 brings the series into being, so that `increase()` sees the first event. */
  count<Name extends CounterName>(
    name: Name,
    by: number | bigint,
    ...labels: LabelArgument<Name>
  ): void
  /** Puts a duration in seconds into a histogram. */
  observe<Name extends HistogramName>(
    name: Name,
    seconds: number,
    ...labels: LabelArgument<Name>
  ): void
}
