import { z } from 'zod'
import { FOLLOW, timing } from '../../config/values.ts'
import { open, counter } from '../../core/metric.ts'

/** systemd's results of a service; the rare ones, and what it invents later, are `other`. */
export const EXIT_RESULTS = [
  'success',
  'exit-code',
  'signal',
  'core-dump',
  'oom-kill',
  'timeout',
  'watchdog',
  'other',
] as const

export const definition = {
  name: 'lifecycle',
  help: "starts and ends of the node's units, from systemd's own journal lines",
  introduction:
    "Starts and ends, from systemd's own lines in the journal and from the poll of the units; each run of a unit counts once.",
  settings: z.strictObject(timing('5s', '10s', FOLLOW)).prefault({}),
  metrics: {
    chain_service_starts_total: counter(
      'Starts of the unit that the agent saw; the start before its first sight does not count.',
      { service: open },
    ),
    chain_service_exits_total: counter(
      'Ends of the unit that the agent saw, by result of systemd.',
      {
        service: open,
        result: EXIT_RESULTS,
      },
    ),
  },
} as const
