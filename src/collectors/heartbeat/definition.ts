import { z } from 'zod'
import { file, timing } from '../../config/values.ts'
import { gauge, counter } from '../../core/metric.ts'

export const definition = {
  name: 'heartbeat',
  help: 'a sign of life to somebody outside, with height and verdict',
  introduction:
    "The heartbeat that the agent sends to `heartbeat.urlFile`, a dead man's switch outside of the host.",
  settings: z
    .strictObject({
      ...timing('60s', '10s', ['how often it is sent', 'how long it waits for an answer']),
      urlFile: file('the file with the address that the heartbeat goes to; none is sent without')
        .nullable()
        .default(null),
    })
    .prefault({}),
  metrics: {
    chain_agent_heartbeat_last_success_timestamp_seconds: gauge(
      'When the heartbeat was last accepted.',
    ),
    chain_agent_heartbeats_total: counter('Heartbeats, by whether they were accepted.', {
      result: ['accepted', 'failed'],
    }),
  },
} as const
