import { z } from 'zod'
import { FOLLOW, label, serviceUnit, timing } from '../../config/values.ts'
import { gauge, open, counter } from '../../core/metric.ts'

export const definition = {
  name: 'logs',
  help: 'lines that mean trouble, in the logs of consensus, execution and the clean-up',
  introduction:
    'Lines that mean trouble, in the journals of consensus, execution and the clean-up; [patterns](patterns.md) tells what each means and what to do.',
  settings: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      units: z
        .record(label, serviceUnit)
        .default({
          bft: '{prefix}-bft.service',
          execution: '{prefix}-execution.service',
          cruft: '{prefix}-cruft.service',
        })
        .describe('the units whose logs are searched for lines that mean trouble: label → unit'),
    })
    .prefault({}),
  metrics: {
    chain_log_pattern_total: counter('Lines that mean trouble, by what they say.', {
      service: open,
      pattern: open,
    }),
    chain_log_lines_total: counter('Warnings and errors in the log.', {
      service: open,
      level: ['warning', 'error'],
    }),
    chain_log_suppressed_messages_total: counter(
      'Messages that journald dropped: absence of others proves nothing then.',
      { service: open },
    ),
    chain_log_oldest_entry_timestamp_seconds: gauge(
      'Time of the oldest entry of the service that the journal still holds.',
      { service: open },
    ),
  },
} as const
