import { z } from 'zod'
import { label, polling, serviceUnit, timed } from '../../core/settings.ts'
import { gauge, open, opens, counter } from '../../core/metric.ts'
import { LOG_STATES } from '../../domain/log-state.ts'
import { listOf, mapOf, objectOf, orNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'logs',
  help: 'known failure messages in the logs of consensus, execution, RPC and the cleanup',
  introduction:
    'Known failure messages in the journals of consensus, execution, RPC and the cleanup; `chain-agent check` prints what each means and what to do.',
  settings: timed('5s', '10s', {
    ...polling('5s', 'how often it reports while there is nothing to read'),
    units: z
      .record(label, serviceUnit)
      .default({
        bft: '{prefix}-bft.service',
        execution: '{prefix}-execution.service',
        rpc: '{prefix}-rpc.service',
        cruft: '{prefix}-cruft.service',
      })
      .describe('the units whose logs are searched for known failure messages: label → unit'),
  }),
  reading: objectOf({
    lastEntryAt: orNull.time,
    trouble: z.record(z.string(), listOf(z.string())).nullable().catch(null),
    oldestEntryAt: mapOf(orNull.time),
    states: mapOf(z.enum(LOG_STATES).nullable().catch(null)),
  }),
  metrics: {
    chain_log_pattern_total: counter(
      'Lines of the log of the service with a known failure message, by pattern.',
      opens('service', 'pattern'),
    ),
    chain_log_lines_total: counter('Warnings and errors in the log of the service, by level.', {
      service: open,
      level: ['warning', 'error'],
    }),
    chain_log_suppressed_messages_total: counter(
      'Messages of the service that journald dropped; while it drops messages, a missing message proves nothing.',
      { service: open },
    ),
    chain_agent_log_state: gauge(
      'Constant 1; state of the log of a service: the journal has an entry since its last start, has none although it runs, or has none and its output goes elsewhere; absent if that is unknown.',
      { service: open, state: LOG_STATES },
    ),
    chain_log_oldest_entry_timestamp_seconds: gauge(
      'Time of the oldest entry of the service that is still in the journal.',
      { service: open },
    ),
  },
} as const
