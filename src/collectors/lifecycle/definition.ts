import { enabled, timed } from '../../core/settings.ts'
import { open, counter } from '../../core/metric.ts'

/** Results of a service as systemd reports them; rare and unknown ones are `other`. */
export const EXIT_RESULTS = ['success', 'exit-code', 'signal', 'core-dump', 'oom-kill', 'timeout', 'other'] as const

export const definition = {
  name: 'lifecycle',
  help: "starts and exits of the node's units, from systemd's journal entries",
  introduction:
    "Starts and exits, from systemd's journal entries and from the poll of the units; each run of a unit is counted once.",
  settings: timed('5s', '10s', { enabled }),
  metrics: {
    chain_service_starts_total: counter('Starts of the unit since the agent first read its state.', { service: open }),
    chain_service_exits_total: counter('Exits of the unit since the agent first read its state, by systemd result.', {
      service: open,
      result: EXIT_RESULTS,
    }),
  },
} as const
