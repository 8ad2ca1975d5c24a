import { z } from 'zod'
import { label, polling, serviceUnit, withTimeout } from '../../core/settings.ts'
import { externalCounter, gauge, open } from '../../core/metric.ts'
import { each, listOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/**
 * ActiveState of systemd, `other` for one of a later version, and `not-found` for a unit that does not exist. By
 * systemd(1) a unit that reloads is active, and one in maintenance inactive.
 */
export const SERVICE_STATES = [
  'active',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'other',
  'not-found',
] as const

const unit = {
  ...each(orNull.text, 'unit', 'loadState', 'activeState', 'subState', 'unitFileState', 'result'),
  restarts: orNull.integer,
  mainPid: orNull.number,
  exit: objectOrNull({ by: orNull.text, status: orNull.integer }),
  ...each(orNull.time, 'startedAt', 'exitedAt', 'lastTriggerAt', 'nextTriggerAt'),
  ...each(orNull.integer, 'memoryBytes', 'tasks'),
  cpuSeconds: orNull.number,
}

export const definition = {
  name: 'services',
  help: "the node's systemd units and timers",
  introduction:
    "systemd units and timers, from `systemctl show`. The agent watches `/run/systemd/units`, the control groups of the units (`cgroup.events`) and the loads of unit files: it runs systemctl when a unit has started, ended or crashed, within a second, and otherwise every minute. Memory, CPU time and tasks are then read from the control group every 15 s. systemctl runs every `services.interval` while a unit starts, stops or reloads, and where units cannot be watched: with cgroup v1, in a container without the host's `/run/systemd` and `/sys/fs/cgroup`, or if the limits of the kernel for file watches are reached. The log of the agent has the reason, as `unit changes`. No watch sees that a unit begins to stop or reload, or fails before its first program: these are up to a minute late.",
  settings: z
    .strictObject({
      ...polling(
        '4s',
        'how often it runs systemctl while a unit starts, stops or reloads, and if units cannot be watched',
      ),
      units: z
        .record(label, serviceUnit)
        .default({
          bft: '{prefix}-bft.service',
          execution: '{prefix}-execution.service',
          rpc: '{prefix}-rpc.service',
          'ledger-tail': '{prefix}-ledger-tail.service',
          otelcol: 'otelcol.service',
          cruft: '{prefix}-cruft.service',
        })
        .describe(
          "the units to monitor: label → unit; of a coming release of the node also archiver: '{prefix}-chain-data-archiver.service', of a validator sidecar: 'fastlane-sidecar.service'",
        ),
      required: z
        .array(label)
        .default(['bft', 'execution', 'rpc'])
        .describe('units that should run even if they are not enabled'),
      timers: z
        .record(label, z.string().regex(/^\S+\.timer$/, 'expected the name of a .timer unit'))
        .default({ cruft: '{prefix}-cruft.timer' })
        .describe('the timers to monitor: label → unit'),
    })
    .refine(({ units, required }) => required.every((name) => name in units), {
      path: ['required'],
      message: 'expected names of services.units',
    })
    .transform(withTimeout('4s', '5s'))
    .prefault({}),
  reading: objectOf({
    services: listOf(objectOf({ ...unit, service: orNull.text, expected: orNull.flag })),
    timers: listOf(objectOf({ ...unit, timer: orNull.text })),
    partialRestart: orNull.flag,
  }),
  metrics: {
    chain_service_state: gauge('State of the systemd unit as a state set; exactly one is 1.', {
      service: open,
      state: SERVICE_STATES,
    }),
    chain_service_active: gauge('Whether systemd reports the unit as active.', { service: open }),
    chain_service_expected: gauge('Whether the unit should be active: enabled, or required by the configuration.', {
      service: open,
    }),
    chain_service_restarts_total: externalCounter('Restarts of the unit by systemd.', { service: open }),
    chain_service_start_timestamp_seconds: gauge('Time at which the main process of the unit last started.', {
      service: open,
    }),
    chain_service_last_exit_status: gauge(
      'Exit code of the last main process of the unit that exited, or the number of the signal that killed it.',
      { service: open },
    ),
    chain_service_memory_bytes: gauge('Memory of the unit, from systemd accounting.', { service: open }),
    chain_service_cpu_seconds_total: externalCounter('CPU time of the unit in seconds since it was started.', {
      service: open,
    }),
    chain_service_tasks: gauge('Number of tasks of the unit, from systemd accounting.', { service: open }),
    chain_service_partial_restart: gauge('Whether consensus was restarted and execution was not.'),
    chain_timer_last_trigger_timestamp_seconds: gauge('Time at which the systemd timer was last triggered.', {
      timer: open,
    }),
    chain_timer_next_trigger_timestamp_seconds: gauge('Time at which the systemd timer is triggered next.', {
      timer: open,
    }),
  },
} as const
