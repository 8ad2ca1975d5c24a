import { z } from 'zod'
import { label, POLL, serviceUnit, timing } from '../../config/values.ts'
import { externalCounter, gauge, open } from '../../core/metric.ts'

/** systemd's ActiveState, and a unit that it does not know. */
export const SERVICE_STATES = [
  'active',
  'reloading',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'maintenance',
  'not-found',
] as const

export const definition = {
  name: 'services',
  help: "the node's systemd units and timers",
  introduction: 'systemd units and timers, by `systemctl show` every `services.interval`.',
  settings: z
    .strictObject({
      ...timing('10s', '5s', POLL),
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
        .describe('the units to watch: label → unit'),
      required: z
        .array(label)
        .default(['bft', 'execution', 'rpc'])
        .describe('units that should run even where they are not enabled'),
      timers: z
        .record(label, z.string().regex(/^\S+\.timer$/, 'expected the name of a .timer unit'))
        .default({ cruft: '{prefix}-cruft.timer' })
        .describe('the timers to watch: label → unit'),
    })
    .refine(({ units, required }) => required.every((name) => name in units), {
      path: ['required'],
      message: 'expected names that stand in services.units',
    })
    .prefault({}),
  metrics: {
    chain_service_state: gauge('State of the systemd unit as a state set; exactly one is 1.', {
      service: open,
      state: SERVICE_STATES,
    }),
    chain_service_active: gauge('Whether systemd reports the unit as active.', { service: open }),
    chain_service_expected: gauge(
      'Whether the unit should be active: enabled, or required by the configuration.',
      { service: open },
    ),
    chain_service_restarts_total: externalCounter(
      'Times that systemd itself has restarted the unit.',
      {
        service: open,
      },
    ),
    chain_service_start_timestamp_seconds: gauge('When the main process last started.', {
      service: open,
    }),
    chain_service_last_exit_status: gauge(
      'Exit code of the last main process that ended, or the signal number where one ended it.',
      { service: open },
    ),
    chain_service_memory_bytes: gauge('Memory of the unit as systemd accounts it.', {
      service: open,
    }),
    chain_service_cpu_seconds_total: externalCounter(
      'Processor time of the unit since it was started.',
      {
        service: open,
      },
    ),
    chain_service_tasks: gauge('Tasks of the unit as systemd accounts them.', { service: open }),
    chain_service_partial_restart: gauge(
      'Whether consensus was started anew and execution beside it was not.',
    ),
    chain_timer_last_trigger_timestamp_seconds: gauge('When the timer last fired.', {
      timer: open,
    }),
    chain_timer_next_trigger_timestamp_seconds: gauge('When the timer fires next.', {
      timer: open,
    }),
  },
} as const
