import type { Config } from '../config/schema.ts'
import { type Clock, linkAbort } from '../core/clock.ts'
import type { Change } from '../core/board.ts'
import { createSampleIndex, type Sample, sample, sampleIfKnown } from '../core/metric.ts'
import { second } from '../core/units.ts'
import type { Severity } from '../domain/event.ts'
import type { AlertState, RecoveryAction } from '../domain/health.ts'
import type { Health, RuleFinding } from '../parsers/agent-status.ts'
import type { Exposition } from '../exporter/exposition.ts'
import { asError } from '../core/errors.ts'
import { createHistory } from '../exporter/page/figures.ts'
import { createHealthMonitor, EVALUATION_INTERVAL } from '../health/monitor.ts'
import type { Incidents } from './incidents.ts'

interface HealthWatchOptions {
  readonly clock: Clock
  readonly log: { error(failure: Error | string): void }
  readonly settings: Config['health']
  /** Called for each alert that begins or ceases to fire. */
  readonly record: (change: Change, severity: Severity) => void
  readonly incidents?: Pick<Incidents, 'observe' | 'idOf'>
}

/** What the rules are evaluated on; it exists once the collectors do. */
interface Measured {
  readonly exposition: Pick<Exposition, 'values'>
  readonly samples: () => readonly Sample[]
  /** The recovery that the node needs, after each evaluation. */
  readonly recovery?: () => RecoveryAction | null
}

/** Changes within this time, in milliseconds, are evaluated together: several have one cause. */
const COALESCED = 500

/** Evaluates the alert rules at an interval, soon after a change, when an alert may fire, and for requests. */
export const createHealthWatch = (options: HealthWatchOptions) => {
  const { clock, log, settings, record, incidents } = options
  const startedAt = clock.now()
  const startedElapsed = clock.elapsed()
  const monitor = createHealthMonitor(startedAt, settings)
  const history = createHistory()
  const logFailures = createFailureLog((failure) => {
    log.error(failure)
  })
  /** The time of the last evaluation on the monotonic clock. */
  let evaluatedAt = 0
  let evaluatedElapsed = -Infinity
  let hasChanged = false
  let recovery: RecoveryAction | null = null
  let wake = (): void => undefined
  const listeners = new Set<() => void>()

  const evaluate = async (measured: Measured, isExtra = false): Promise<void> => {
    const { exposition, samples, recovery: recoveryNow = () => null } = measured
    try {
      const exposed = await exposition.values(samples())
      // Readings may change within a millisecond; times of evaluations must increase.
      evaluatedElapsed = clock.elapsed()
      evaluatedAt = Math.max(evaluatedAt + 1, startedAt + Math.round(evaluatedElapsed - startedElapsed))
      const changes = monitor.evaluate(clock.now(), exposed, { steady: evaluatedAt, isExtra })
      for (const { severity, ...change } of changes) record(change, severity)
      incidents?.observe(clock.now(), monitor.health())
      logFailures(monitor.health().failures)
      recovery = recoveryNow()
      for (const listener of listeners) listener()
    } catch (error) {
      logFailures([asError(error)])
      monitor.fail(clock.now())
      recovery = null
    }
  }

  const withIncident = (finding: RuleFinding): RuleFinding => {
    const incident = incidents?.idOf(finding)
    return incident === undefined ? finding : { ...finding, incident }
  }

  return {
    history,
    health: (): Health => {
      const health = monitor.health()
      return { ...health, findings: health.findings.map(withIncident) }
    },
    samples: (): readonly Sample[] => [...monitor.samples(), ...recoverySamples(recovery)],
    alerts: (target: Parameters<typeof monitor.alerts>[0], wanted: AlertState, prefix: string) =>
      monitor.alerts(target, wanted, { at: clock.now(), recovery, prefix }),
    /** Calls the function after each evaluation. Returns the end of the subscription. */
    onEvaluation: (listener: () => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Evaluates the rules for a request. */
    evaluateNow: async (measured: Measured): Promise<void> => evaluate(measured, true),
    /** A change on the board: a fault is evaluated when it is read, not up to 15 s later. */
    notice: (): void => {
      hasChanged = true
      wake()
    },
    run: async (measured: Measured, signal: AbortSignal): Promise<void> => {
      let due = clock.elapsed()
      let isFirst = true
      while (!signal.aborted) {
        // An early evaluation, or a late one, does not move the times of the others.
        due += EVALUATION_INTERVAL * (1 + Math.floor((clock.elapsed() - due) / EVALUATION_INTERVAL))
        let isEarly = true
        while (isEarly && !signal.aborted) {
          const pause = linkAbort(signal)
          wake = pause.abort
          if (hasChanged) wake()
          // The rule of a pending alert is evaluated when its duration has passed, not up to 15 s later.
          const untilFiring = monitor.firesAt() - evaluatedAt - (clock.elapsed() - evaluatedElapsed)
          const untilDue = Math.max(0, due - clock.elapsed())
          // 0 or less: it could not be evaluated then.
          const wait = untilFiring > 0 ? Math.min(untilDue, Math.ceil(untilFiring)) : untilDue
          await clock.sleep(wait, pause.signal)
          wake()
          if (hasChanged) await clock.sleep(COALESCED, signal)
          hasChanged = false
          isEarly = clock.elapsed() < due
          // An early evaluation keeps no samples: memory must not grow with the number of changes, nor an average count their times more often.
          // The first one does: an increase of the first seconds is one after these samples.
          await evaluate(measured, isEarly && !isFirst)
          isFirst = false
        }
        history.record({ known: createSampleIndex(measured.samples()), at: clock.now() })
      }
    },
  }
}

/** What the rules of Prometheus need for the messages of their alerts. */
const recoverySamples = (recovery: RecoveryAction | null): readonly Sample[] =>
  recovery === null
    ? []
    : [
        sample('chain_node_recovery_info', 1, { action: recovery.action }),
        ...sampleIfKnown(
          'chain_node_recovery_deadline_timestamp_seconds',
          recovery.deadline === null ? undefined : recovery.deadline / second,
        ),
      ]

/** Logs each failure when it begins, not at every evaluation, and again after it was over. */
export const createFailureLog = (log: (failure: Error | string) => void) => {
  let known: ReadonlySet<string> = new Set()
  return (failures: readonly (Error | string)[]): void => {
    const current = new Map(failures.map((failure) => [String(failure), failure]))
    for (const [text, failure] of current) if (!known.has(text)) log(failure)
    known = new Set(current.keys())
  }
}
