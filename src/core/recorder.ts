import type { HistogramName, LabelArgument, CounterName } from './metric.ts'

/**
 * Records what a collector observes event by event. Readings go to the board and disappear when they are stale;
 * recorded counters and histograms stay.
 */
export interface Recorder {
  /** Adds `by` to a counter of the agent. Counting 0 creates the series, so that `increase()` sees the first event. */
  count<Name extends CounterName>(name: Name, by: number | bigint, ...labels: LabelArgument<Name>): void
  /** Observes a duration, in seconds, in a histogram. */
  observe<Name extends HistogramName>(name: Name, seconds: number, ...labels: LabelArgument<Name>): void
}
