import type { Config } from '../../config/schema.ts'
import type { Change } from '../../core/board.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { RuleEvaluator } from '../../health/incidents/rule-evaluator.ts'
import { createPartialRestart, type LifecycleCounters } from '../../collectors/lifecycle/restarts.ts'
import type { Clock } from '../../core/clock.ts'

interface BootTrackerDependencies {
  readonly config: Config
  readonly prefix: string
  readonly serviceRuns: ServiceRuns
  readonly evaluator: RuleEvaluator
}

/** Tracks what collectors do not: the boots of the host, the services that have entries, and the text of trouble lines. */
export const createBootTracker = ({ config, prefix, serviceRuns, evaluator }: BootTrackerDependencies) => {
  const services = new Map(
    Object.entries(config.services.units).map(([service, unit]) => [unit.replaceAll('{prefix}', prefix), service]),
  )
  const withEntries = new Set<string>()
  const boots = new Set<string>()
  const states = new Map<string, string>()
  let boot = ''
  let bootedAt: number | null = null
  let entries = 0

  const noteBoot = (id: string, at: number): void => {
    if (boots.has(id)) return
    boots.add(id)
    boot = id
    if (boots.size === 1) return
    bootedAt = at
    serviceRuns.noteReboot()
    evaluator.addEvent({ severity: 'info', beganAt: at, endedAt: at, says: 'the host was rebooted' })
  }

  const add = ({ fields, at, unit }: JournalEntry): void => {
    entries += 1
    const id = fields['_BOOT_ID']
    if (id !== undefined) noteBoot(id, at)
    const service = services.get(unit ?? '')
    if (service === undefined) return
    withEntries.add(service)
    const invocation = fields['_SYSTEMD_INVOCATION_ID']
    const isOwn = fields['_SYSTEMD_UNIT'] === unit
    if (isOwn && invocation !== undefined && (id ?? '') === boot) serviceRuns.noteEntry(service, invocation)
  }

  return {
    add: (batch: readonly JournalEntry[]): void => {
      for (const entry of batch) add(entry)
    },
    entries: () => entries,
    boot: () => boot,
    bootedAt: () => bootedAt,
    missingServices: (wanted: ReadonlySet<string>): readonly string[] =>
      [...wanted].filter((service) => NEEDED.includes(service) && !withEntries.has(service)),
    notice: ({ subject, to }: Change): void => {
      if (subject !== undefined) states.set(subject, to)
    },
    /** The text of a trouble line; the logs collector keeps that of the most severe ones. */
    textOf: (service: string, pattern: string): string | undefined =>
      states
        .get(`${service} log`)
        ?.split(/; (?=[a-z_]+(?:: |; |$))/)
        .find((piece) => piece.startsWith(`${pattern}: `))
        ?.slice(pattern.length + 2),
  }
}

/** Services whose entries most rules need. */
const NEEDED: readonly string[] = ['bft', 'execution', 'ledger-tail']

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
