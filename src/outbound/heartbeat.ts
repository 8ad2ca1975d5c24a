import type { Context } from '../core/clock.ts'
import { type Collector, metadataOf, poll } from '../core/collector.ts'
import type { HealthState } from '../domain/health.ts'
import type { ReceivedHeartbeat } from '../collectors/shared/node-state.ts'
import { newestBlock } from '../domain/agreement.ts'
import { createSampleIndex, sampleIfKnown } from '../core/metric.ts'
import { inSeconds, second } from '../core/units.ts'
import { MAINTENANCE_REASONS } from '../domain/maintenance.ts'
import { ownHeight } from '../collectors/derived/estimates.ts'
import type { ReadingOf, Settings, Uses } from '../collectors/dependencies.ts'
import { heartbeat as definition } from './definitions.ts'
import { requestTimeout } from '../collectors/shared/request.ts'
import { deliveryState, isAcceptedHeartbeat } from './outbox.ts'

type Reading = ReadingOf<typeof definition> & { readonly health: HealthState; readonly state: string }

type HeartbeatUses = Uses<
  'heartbeatTo' | 'published' | 'health' | 'recorder' | 'clock',
  Settings<typeof definition, 'urlFile'>
>

/** After the first evaluation of the rules, which is 15 s after the start. */
const FIRST_AFTER_MS = 20 * second

/**
 * Heartbeat to an outside receiver, with height and health. If Prometheus runs on the host of the node, only
 * the missing heartbeat reveals that the host is down.
 */
export const heartbeat = (uses: HeartbeatUses): Collector<Reading> => {
  const { urlFile, heartbeatTo, published, health, recorder, clock, timing } = uses
  const send = heartbeatTo(urlFile ?? '', requestTimeout(timing, 1))
  let lastSuccessAt: number | null = null
  const sendOne = async ({ signal }: Context): Promise<Reading> => {
    const known = createSampleIndex([...published()])
    const { state: healthState, causes } = health()
    const maintenance =
      MAINTENANCE_REASONS.find((reason) => known.value('chain_agent_maintenance', { reason }) === 1) ?? null
    const document: ReceivedHeartbeat['heartbeat'] = {
      at: new Date(clock.now()).toISOString(),
      health: healthState,
      causes,
      maintenance,
      height: ownHeight(known) ?? null,
      blockTime: isoTime(newestBlock(known)?.time),
      blockDifference: known.value('chain_block_difference') ?? null,
    }
    const state = await deliveryState(send(document, signal), isAcceptedHeartbeat)
    const isAccepted = state === 'accepted'
    if (isAccepted) lastSuccessAt = clock.now()
    recorder.count('chain_agent_heartbeats_total', Number(isAccepted), { result: 'accepted' })
    recorder.count('chain_agent_heartbeats_total', Number(!isAccepted), { result: 'failed' })
    return { health: healthState, state, lastSuccessAt }
  }

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      // Before the first evaluation the health is unknown: every start of the agent would cause an alarm.
      await context.clock.sleep(Math.min(FIRST_AFTER_MS, timing.interval), context.signal)
      await poll(timing, sendOne)(context, report)
    },
    samples: (reading) =>
      sampleIfKnown('chain_agent_heartbeat_last_success_timestamp_seconds', inSeconds(reading.lastSuccessAt)),
    states: ({ health: current, state }) => ({ heartbeat: state, health: current }),
  }
}

const isoTime = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1000).toISOString()
