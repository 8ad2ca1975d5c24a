import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { type CheckResult, createCheckRunner, type HostUses, KNOWN, NOT_AVAILABLE, runAll } from './host-check.ts'
import { contentionChecks } from './contention.ts'
import { clockCheck, cpuChecks, kernelChecks, memoryChecks, portsCheck, processChecks } from './system.ts'
import { directoryChecks, driveChecks } from './storage.ts'
import { definition } from './definition.ts'

/** Results by the name of the check. */
export type HostReading = ReadonlyMap<string, CheckResult>

/** Properties of the host that the node depends on. The checks are independent of each other. */
export const host = (uses: HostUses): Collector<HostReading> => {
  const { host: sources, timing } = uses
  // Less than the timeout of the collector: a check that hangs must not fail the reading.
  const timeout = timing.timeout * 0.8
  const checks = [
    ...kernelChecks(uses),
    ...cpuChecks(uses),
    ...memoryChecks(uses),
    ...contentionChecks(uses),
    clockCheck(uses, timeout),
    portsCheck(uses),
    ...directoryChecks(uses),
    ...driveChecks(uses),
    ...processChecks(uses),
  ].map((check) => createCheckRunner(check, timeout))
  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      try {
        await poll(timing, (polled) => runAll(checks, polled))(context, report)
      } finally {
        // The next configuration may not have these directories. A directory that hangs must not delay it.
        void sources.space.release()
      }
    },
    samples: (reading) => [...reading.values()].flatMap(({ samples }) => samples),
    states: describe,
  }
}

const WITH_REASON = `${NOT_AVAILABLE}: `

/** Checks without a state of their own are counted, and those without a result listed: the log at the start is short. */
const describe = (reading: HostReading): Readonly<Record<string, string>> => {
  const known = [...reading].filter(([, { state }]) => state === KNOWN)
  const notAvailable = [...reading].flatMap(([name, { state }]) => {
    if (state === NOT_AVAILABLE) return [name]
    return state.startsWith(WITH_REASON) ? [`${name} (${state.slice(WITH_REASON.length)})`] : []
  })
  const others = [...reading].filter(([, { state }]) => state !== KNOWN && !state.startsWith(NOT_AVAILABLE))
  return {
    'host, known': `${known.length} of ${reading.size} checks`,
    'host, not available': notAvailable.join(', ') || 'none',
    ...Object.fromEntries(others.map(([name, { state }]) => [`host, ${name}`, state])),
  }
}
