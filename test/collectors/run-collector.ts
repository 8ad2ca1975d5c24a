import type { Clock } from '../../src/core/clock.ts'
import type { Collector, Outcome } from '../../src/core/collector.ts'
import type { Sample } from '../../src/core/metric.ts'
import type { VirtualClock } from '../../src/core/virtual-clock.ts'
import type { Exec } from '../../src/sources/exec.ts'

/** The values of samples by `name{label values}`, the names without their prefix. */
export const valuesOf = (samples: readonly Sample[], prefix = 'chain_'): Record<string, number> =>
  Object.fromEntries(
    samples.map(({ name, labels, value }) => {
      const text = Object.values(labels).join(',')
      return [`${name.replace(prefix, '')}${text === '' ? '' : `{${text}}`}`, value]
    }),
  )

export const readingOf = <Reading>(outcome: Outcome<Reading> | undefined): Reading => {
  if (!outcome?.ok) throw outcome?.error ?? new Error('no outcome yet')
  return outcome.value
}

/** The outcome of one poll. */
export const pollOnce = async <Reading>(collector: Collector<Reading>, clock: Clock): Promise<Outcome<Reading>> => {
  const stop = new AbortController()
  return new Promise((resolve) => {
    void collector.run({ clock, signal: stop.signal }, (outcome) => {
      stop.abort()
      resolve(outcome)
    })
  })
}

/** Polls at the times of a manual clock. `shown` and `states` throw the error of a failed poll. */
export const runPolls = async <Reading>(collector: Collector<Reading>, clock: VirtualClock, prefix?: string) => {
  const outcomes: Outcome<Reading>[] = []
  const ending = new AbortController()
  const running = collector.run({ clock, signal: ending.signal }, (outcome) => outcomes.push(outcome))
  await clock.advance(0)
  const last = (): Reading => readingOf(outcomes.at(-1))
  return {
    outcomes,
    reading: last,
    samples: () => collector.samples(last()),
    shown: () => valuesOf(collector.samples(last()), prefix),
    states: () => collector.states(last()),
    next: async (ms = collector.timing.interval) => clock.advance(ms),
    stop: async () => {
      ending.abort()
      await running
    },
  }
}

/** An executor that answers so; no stream is read. */
export const execOf = (run: Exec['run']): Exec => ({
  run,
  stream: () => {
    throw new Error('no stream is read here')
  },
  killAll: () => undefined,
})

/** The settings of the collector that sends alerts, of which no test changes one. */
export const ALERT_SETTINGS = {
  job: 'chain-agent',
  instance: null,
  labels: {},
  runbooks: null,
  dashboards: null,
  timing: { interval: 15_000, timeout: 10_000 },
}
