import { z } from 'zod'
import { file, timing } from '../../core/settings.ts'
import { gauge, counter } from '../../core/metric.ts'
import { objectOf, textOrNull, timeOrNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'heartbeat',
  help: 'heartbeat to an outside receiver, with height and health',
  introduction: "The heartbeat that the agent sends to `heartbeat.urlFile`, a dead man's switch outside of the host.",
  settings: z
    .strictObject({
      ...timing('60s', '10s', ['how often it is sent', 'how long it waits for a response']),
      urlFile: file('the file with the URL that receives heartbeats; null: none is sent').nullable().default(null),
    })
    .prefault({}),
  reading: objectOf({
    /** `accepted`, or the reason of the failure. */
    state: textOrNull,
    lastSuccessAt: timeOrNull,
  }),
  metrics: {
    chain_agent_heartbeat_last_success_timestamp_seconds: gauge('Time at which a heartbeat was last accepted.'),
    chain_agent_heartbeats_total: counter('Heartbeats sent, by result.', {
      result: ['accepted', 'failed'],
    }),
  },
} as const
