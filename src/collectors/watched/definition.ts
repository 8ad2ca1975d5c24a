import { z } from 'zod'
import { gauge, open } from '../../core/metric.ts'
import { label, timed } from '../../core/settings.ts'
import { HEALTH_STATES } from '../../domain/health.ts'
import { each, listOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/** `open` and `refused` are answers of the host; `silent` is a timeout or no route to it. */
export const PORT_STATES = ['open', 'refused', 'silent'] as const

const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}$/

const isPort = (port: number): boolean => port >= 1 && port <= 65_535

export const definition = {
  name: 'watched',
  help: 'another node, by the heartbeats of its agent and its public port',
  introduction:
    'Another node (`watched.name`), seen from this host without access to it: the heartbeats that its agent posts to `/api/v1/heartbeat` here, and whether its public port answers. Disabled without a name.',
  settings: timed('15s', '5s', {
    name: label.nullable().default(null).describe('the name of the other node, as a label'),
    port: z
      .string()
      .regex(ADDRESS, 'expected HOST:PORT')
      .refine(
        (address) => isPort(Number(address.slice(address.lastIndexOf(':') + 1))),
        'expected a port from 1 to 65535',
      )
      .nullable()
      .default(null)
      .describe('HOST:PORT of its public TCP port, that of consensus; null: it is not tested'),
  }),
  reading: objectOf({
    ...each(orNull.text, 'node', 'port'),
    receivedAt: orNull.time,
    heartbeat: objectOrNull({
      health: orNull.text,
      causes: listOf(z.string()),
      maintenance: orNull.text,
      ...each(orNull.number, 'height', 'blockDifference'),
    }),
  }),
  metrics: {
    chain_watched_heartbeat_timestamp_seconds: gauge(
      'Time at which the last heartbeat of the other node was received.',
      { node: open },
    ),
    chain_watched_health: gauge('Health in the last heartbeat of the other node, as a state set.', {
      node: open,
      state: HEALTH_STATES,
    }),
    chain_watched_maintenance: gauge(
      'Whether the last heartbeat reports a maintenance window, for half an hour after that heartbeat.',
      {
        node: open,
      },
    ),
    chain_watched_port: gauge(
      'State of the public port of the other node, as a state set; absent while it is unknown.',
      {
        node: open,
        state: PORT_STATES,
      },
    ),
  },
} as const
