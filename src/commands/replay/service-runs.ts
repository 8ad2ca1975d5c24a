import { createPartialRestart } from '../../collectors/lifecycle/restarts.ts'
import type { LifecycleCounters } from '../../collectors/lifecycle/restarts.ts'
import type { Clock } from '../../core/clock.ts'

interface Run {
  readonly invocation: string
  readonly startedAt: number
  hasEnded: boolean
}

/** The current run of each service, on a clock that only increases, from the start and stop entries of systemd and from its own entries. */
export interface ServiceRuns {
  /** Wraps the collector's count of starts and ends, to see them as well. */
  wrap(lifecycle: LifecycleCounters): LifecycleCounters
  /** An entry of a service: it runs, whether or not its start was recorded. */
  noteEntry(service: string, invocation: string): void
  /** The host was rebooted: all runs have ended. */
  noteReboot(): void
  /** Whether each service runs; without services that have no entry at all. */
  active(): ReadonlyMap<string, boolean>
  /** Start of the current run of each service, in milliseconds since the epoch; without runs that began before the recording. */
  started(): ReadonlyMap<string, number>
  /** Null until consensus and execution have been running. */
  isPartialRestart(): boolean | null
}

export const createServiceRuns = (clock: Pick<Clock, 'now'>): ServiceRuns => {
  const runs = new Map<string, Run>()
  const partial = createPartialRestart()
  const recordingStart = clock.now()
  const start = (service: string, invocation: string): void => {
    // A service that runs when the recording begins was started earlier, at an unknown time.
    const startedAt = runs.has(service) || clock.now() > recordingStart ? clock.now() : recordingStart
    runs.set(service, { invocation, startedAt, hasEnded: false })
  }

  return {
    wrap: (lifecycle) => ({
      ...lifecycle,
      started: (event) => {
        start(event.service, event.invocation)
        lifecycle.started(event)
      },
      exited: (event) => {
        const { service, invocation } = event
        const run = runs.get(service)
        // The end of an earlier run may be recorded after the start of the next one.
        if (!run || run.invocation === invocation) {
          runs.set(service, { invocation, startedAt: run?.startedAt ?? recordingStart, hasEnded: true })
        }
        lifecycle.exited(event)
      },
    }),
    noteEntry: (service, invocation) => {
      const run = runs.get(service)
      if (!run) runs.set(service, { invocation, startedAt: recordingStart, hasEnded: false })
      else if (run.invocation !== invocation) start(service, invocation)
    },
    noteReboot: () => {
      for (const run of runs.values()) run.hasEnded = true
    },
    active: () => new Map([...runs].map(([service, { hasEnded }]) => [service, !hasEnded])),
    started: () =>
      new Map(
        [...runs].flatMap(([service, { startedAt }]) => (startedAt > recordingStart ? [[service, startedAt]] : [])),
      ),
    isPartialRestart: () => partial(stateOf(runs.get('bft')), stateOf(runs.get('execution'))),
  }
}

const stateOf = (run: Run | undefined) => run && { ...run, activeState: run.hasEnded ? 'inactive' : 'active' }
