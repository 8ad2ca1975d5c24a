import type { Context } from '../core/clock.ts'
import { type Collector, metadataOf, poll } from '../core/collector.ts'
import type { HealthState } from '../domain/health.ts'
import type { Heartbeat } from '../domain/heartbeat.ts'
import { newestBlock } from '../domain/agreement.ts'
import { createSampleIndex, sampleIfKnown } from '../core/metric.ts'
import { second } from '../core/units.ts'
import { MAINTENANCE_REASONS } from '../domain/maintenance.ts'
import type { SendHeartbeat } from '../sources/endpoints.ts'
import { ownHeight } from '../collectors/derived/estimates.ts'
import type { OfferCollector, Uses } from '../collectors/dependencies.ts'
import { heartbeat as definition } from './definitions.ts'
import { requestTimeout } from '../collectors/shared/request.ts'
import { deliveryState, isAcceptedHeartbeat } from './outbox.ts'

interface Reading {
  readonly health: HealthState
  /** `accepted`, or the reason of the failure. */
  readonly state: string
  /** When a heartbeat was last accepted, in milliseconds since the epoch; null if never. */
  readonly lastSuccessAt: number | null
}

/** After the first evaluation of the rules, which is 15 s after the start. */
const FIRST_AFTER_MS = 20 * second

/**
 * Heartbeat to an outside receiver, with height and health. If Prometheus runs on the host of the node, only
 * the missing heartbeat reveals that the host is down.
 */
export const heartbeat = ({
  send,
  published,
  health,
  recorder,
  clock,
  timing,
}: Uses<'published' | 'health' | 'recorder' | 'clock', { readonly send: SendHeartbeat }>): Collector<Reading> => {
  let lastSuccessAt: number | null = null
  const count = (result: 'accepted' | 'failed', by: number): void => {
    recorder.count('chain_agent_heartbeats_total', by, { result })
  }

  const sendOne = async ({ signal }: Context): Promise<Reading> => {
    const samples = [...published()]
    const known = createSampleIndex(samples)
    const { state: healthState, causes } = health()
    const height = ownHeight(known) ?? null
    const maintenance =
      MAINTENANCE_REASONS.find((reason) => known.value('chain_agent_maintenance', { reason }) === 1) ?? null
    const document: Heartbeat = {
      at: new Date(clock.now()).toISOString(),
      health: healthState,
      causes,
      maintenance,
      height,
      blockTime: isoTime(newestBlock(known)?.time),
      blockDifference: known.value('chain_block_difference') ?? null,
    }
    const state = await deliveryState(send(document, signal), isAcceptedHeartbeat)
    if (state === 'accepted') lastSuccessAt = clock.now()
    count('accepted', state === 'accepted' ? 1 : 0)
    count('failed', state === 'accepted' ? 0 : 1)
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
      sampleIfKnown(
        'chain_agent_heartbeat_last_success_timestamp_seconds',
        reading.lastSuccessAt === null ? null : reading.lastSuccessAt / 1000,
      ),
    states: ({ health: current, state }) => ({ heartbeat: state, health: current }),
  }
}

const isoTime = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1000).toISOString()

export const offer: OfferCollector<typeof definition> = {
  hasWork: ({ urlFile }) => urlFile !== null,
  role: 'outbound',
  create: ({ urlFile, heartbeatTo, published, health, recorder, clock, timing }) => {
    const send = heartbeatTo(urlFile ?? '', requestTimeout(timing, 1))
    return heartbeat({ send, published, health, recorder, clock, timing })
  },
}
