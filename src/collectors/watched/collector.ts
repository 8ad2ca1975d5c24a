import { z } from 'zod'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import type { Context } from '../../core/clock.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { inSeconds, minute } from '../../core/units.ts'
import { HEALTH_STATES } from '../../domain/health.ts'
import { heartbeatSchema } from '../../parsers/heartbeat.ts'
import type { ReadingOf, Settings, Uses } from '../dependencies.ts'
import type { ReceivedHeartbeat } from '../shared/node-state.ts'
import { definition, PORT_STATES } from './definition.ts'

type WatchedUses = Uses<'checkpoint' | 'heartbeatInbox' | 'probeFor', Settings<typeof definition, 'name' | 'port'>>

type Reading = ReadingOf<typeof definition>

/** As ChainMaintenance does: a window outlives the agent that reported it for this long. */
const MAINTENANCE_MS = 30 * minute

const saved = z.object({ node: z.string(), at: z.number(), heartbeat: heartbeatSchema })

/**
 * What another node's agent reports about it, when it last did, and whether the public port of the node answers. The
 * last heartbeat is kept: after a restart of the watcher the node may be silent.
 */
export const watched = (uses: WatchedUses): Collector<Reading> => {
  const { heartbeatInbox: inbox, checkpoint, timing } = uses
  const node = uses.name ?? ''
  /** Null: the port is not tested. */
  const probe = uses.port === null ? null : uses.probeFor(uses.port, timing.timeout)
  let kept: ReceivedHeartbeat | null = null

  const read = async ({ clock, signal }: Context): Promise<Reading> => {
    const { latest } = inbox
    if (latest !== null && latest !== kept) {
      kept = latest
      void checkpoint.save({ node, at: latest.at, heartbeat: latest.heartbeat })
    }
    const port = probe === null ? null : await probe(signal)
    if (kept === null) return { node, receivedAt: null, port, heartbeat: null }
    const { heartbeat, elapsed } = kept
    // By the monotonic clock: after the clock of this host was set, the age is still right.
    const since = clock.elapsed() - elapsed
    return {
      node,
      receivedAt: clock.now() - since,
      port,
      heartbeat: { ...heartbeat, maintenance: since > MAINTENANCE_MS ? null : heartbeat.maintenance },
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      const before = saved.safeParse((await checkpoint.read()).value).data
      if (before?.node === node) {
        const since = Math.max(0, context.clock.now() - before.at)
        kept = { at: before.at, elapsed: context.clock.elapsed() - since, heartbeat: before.heartbeat }
      }
      inbox.isOpen = true
      try {
        await poll(timing, read)(context, report)
      } finally {
        // It may be of another node than the next.
        inbox.latest = null
        inbox.isOpen = false
      }
    },
    samples: ({ receivedAt, heartbeat, port }): readonly Sample[] => [
      ...sampleIfKnown('chain_watched_heartbeat_timestamp_seconds', inSeconds(receivedAt), { node }),
      ...(heartbeat === null
        ? []
        : [
            ...HEALTH_STATES.map((state) =>
              sample('chain_watched_health', heartbeat.health === state, { node, state }),
            ),
            sample('chain_watched_maintenance', heartbeat.maintenance !== null, { node }),
          ]),
      ...(port === null
        ? []
        : PORT_STATES.map((state) => sample('chain_watched_port', port === state, { node, state }))),
    ],
    states: ({ receivedAt, heartbeat, port }) => ({
      [`heartbeats of ${node}`]: receivedAt === null ? 'none received' : 'received',
      ...(heartbeat?.health && { [`health of ${node}`]: heartbeat.health }),
      ...(port !== null && { [`port of ${node}`]: port }),
    }),
  }
}
