import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { type CheckResult, createCheckRunner, KNOWN, NOT_AVAILABLE, runAll } from './host-check.ts'
import { contentionChecks } from './contention.ts'
import { clockCheck, cpuChecks, kernelChecks, memoryChecks, portsCheck, processChecks } from './system.ts'
import { createReadPath, directoryChecks, driveChecks } from './storage.ts'
import type { Settings, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

/** Results by the name of the check. */
export type HostReading = ReadonlyMap<string, CheckResult>

type HostUses = Uses<
  'host' | 'exec' | 'recorder' | 'clock' | 'mainPids' | 'nodeDirectory' | 'nodeFiles' | 'readPrefix' | 'keyFiles',
  Settings<typeof definition, 'ports' | 'firewalledPorts' | 'directories' | 'fileSystems'>
>

/** Properties of the host that the node depends on. The checks are independent of each other. */
export const host = (uses: HostUses): Collector<HostReading> => {
  const { host: sources, exec, recorder, clock, mainPids, nodeDirectory, nodeFiles, readPrefix, keyFiles } = uses
  const { ports, firewalledPorts, directories, fileSystems, timing } = uses
  const node = { nodeDirectory, nodeFiles, readPath: createReadPath(readPrefix, keyFiles) }
  const settings = { ports, firewalledPorts, directories, fileSystems }
  const options = { ...sources, ...settings, ...node, exec, recorder, clock, mainPids }
  // Less than the timeout of the collector: a check that hangs must not fail the reading.
  const timeout = timing.timeout * 0.8
  const checks = [
    ...kernelChecks(options),
    ...cpuChecks(options),
    ...memoryChecks(options),
    ...contentionChecks(options),
    clockCheck(options, timeout),
    portsCheck(options),
    ...directoryChecks(options),
    ...driveChecks(options),
    ...processChecks(options),
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
