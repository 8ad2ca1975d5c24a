import { createPartialRestart } from '../../collectors/lifecycle/restarts.ts'
import type { LifecycleCounters } from '../../collectors/lifecycle/restarts.ts'
import type { Clock } from '../../core/clock.ts'

interface Run {
  readonly invocation: string
  readonly startedAt: number
  /** How it ended; null while it goes on. */
  ended: string | null
}

/** Which run of each service is on, by what systemd says of it and by what it says itself. */
export interface Running {
  /** The collector's count of starts and ends, which hears of them first. */
  wrap(lifecycle: LifecycleCounters): LifecycleCounters
  /** A line of a service: it runs, whether or not its start was recorded. */
  speaks(service: string, invocation: string): void
  /** The host has started anew: what ran has ended. */
  rebooted(): void
  /** Services that have ended and did not start since, with how. A service that was never heard of is none. */
  down(): ReadonlyMap<string, string>
  isPartialRestart(): boolean
}

export const createRunning = (clock: Clock): Running => {
  const runs = new Map<string, Run>()
  const partial = createPartialRestart()
  const began = clock.now()
  const start = (service: string, invocation: string): void => {
    // What runs when the recording begins has run for longer: nothing is known of when it started.
    const startedAt = runs.has(service) || clock.now() > began ? clock.now() : began
    runs.set(service, { invocation, startedAt, ended: null })
  }

  return {
    wrap: (lifecycle) => ({
      ...lifecycle,
      started: (told) => {
        start(told.service, told.invocation)
        lifecycle.started(told)
      },
      exited: (told) => {
        const { service, invocation, result } = told
        const run = runs.get(service)
        // A run that another has followed may be told to have ended late.
        if (!run || run.invocation === invocation) {
          const ended = result === 'success' ? 'was stopped' : `ended: ${result}`
          runs.set(service, { invocation, startedAt: run?.startedAt ?? began, ended })
        }
        lifecycle.exited(told)
      },
    }),
    speaks: (service, invocation) => {
      const run = runs.get(service)
      if (!run) runs.set(service, { invocation, startedAt: began, ended: null })
      else if (run.invocation !== invocation) start(service, invocation)
    },
    rebooted: () => {
      for (const run of runs.values()) run.ended ??= 'did not start after the host did'
    },
    down: () =>
      new Map(
        [...runs].flatMap(([service, { ended }]) => (ended === null ? [] : [[service, ended]])),
      ),
    isPartialRestart: () =>
      partial(stateOf(runs.get('bft')), stateOf(runs.get('execution'))) === true,
  }
}

const stateOf = (run: Run | undefined) =>
  run && { ...run, activeState: run.ended === null ? 'active' : 'inactive' }
