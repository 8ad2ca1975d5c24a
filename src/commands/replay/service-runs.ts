import { createPartialRestart } from '../../collectors/lifecycle/restarts.ts'
import type { LifecycleCounters } from '../../collectors/lifecycle/restarts.ts'
import type { Clock } from '../../core/clock.ts'

interface Run {
  readonly invocation: string
  readonly startedAt: number
  /** How it ended; null while it runs. */
  ended: string | null
}

/** The current run of each service, from the start and stop entries of systemd and from its own entries. */
export interface ServiceRuns {
  /** Wraps the collector's count of starts and ends, to see them as well. */
  wrap(lifecycle: LifecycleCounters): LifecycleCounters
  /** An entry of a service: it runs, whether or not its start was recorded. */
  noteEntry(service: string, invocation: string): void
  /** The host was rebooted: all runs have ended. */
  noteReboot(): void
  /** Services that have ended and not started since, with how they ended; without services that have no entry at all. */
  down(): ReadonlyMap<string, string>
  isPartialRestart(): boolean
}

export const createServiceRuns = (clock: Clock): ServiceRuns => {
  const runs = new Map<string, Run>()
  const partial = createPartialRestart()
  const recordingStart = clock.now()
  const start = (service: string, invocation: string): void => {
    // A service that runs when the recording begins was started earlier, at an unknown time.
    const startedAt = runs.has(service) || clock.now() > recordingStart ? clock.now() : recordingStart
    runs.set(service, { invocation, startedAt, ended: null })
  }

  return {
    wrap: (lifecycle) => ({
      ...lifecycle,
      started: (event) => {
        start(event.service, event.invocation)
        lifecycle.started(event)
      },
      exited: (event) => {
        const { service, invocation, result } = event
        const run = runs.get(service)
        // The end of an earlier run may be recorded after the start of the next one.
        if (!run || run.invocation === invocation) {
          const ended = result === 'success' ? 'was stopped' : `ended: ${result}`
          runs.set(service, { invocation, startedAt: run?.startedAt ?? recordingStart, ended })
        }
        lifecycle.exited(event)
      },
    }),
    noteEntry: (service, invocation) => {
      const run = runs.get(service)
      if (!run) runs.set(service, { invocation, startedAt: recordingStart, ended: null })
      else if (run.invocation !== invocation) start(service, invocation)
    },
    noteReboot: () => {
      for (const run of runs.values()) run.ended ??= 'did not start after the reboot'
    },
    down: () => new Map([...runs].flatMap(([service, { ended }]) => (ended === null ? [] : [[service, ended]]))),
    isPartialRestart: () => partial(stateOf(runs.get('bft')), stateOf(runs.get('execution'))) === true,
  }
}

const stateOf = (run: Run | undefined) => run && { ...run, activeState: run.ended === null ? 'active' : 'inactive' }
