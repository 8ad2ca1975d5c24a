import type { Clock, Context } from '../../core/clock.ts'
import { type Collector, poll, type Timing } from '../../core/collector.ts'
import { asError, SourceError, summaryOf } from '../../core/errors.ts'
import { createSampleIndex, type Recorder, type Sample, sampleIfKnown } from '../../core/metric.ts'
import { second } from '../../core/units.ts'
import { MAINTENANCE_REASONS } from '../../core/maintenance.ts'
import type { SendHeartbeat } from '../../sources/endpoints.ts'
import { type HealthVerdict, healthVerdict, newestBlock, ownHeight } from '../derived/blocks.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'
import { requestTimeout } from '../shared/request.ts'

interface HeartbeatCollectorOptions {
  readonly send: SendHeartbeat
  /** Returns the samples of the other collectors. */
  readonly published: () => Iterable<Sample>
  readonly recorder: Recorder
  readonly clock: Clock
  readonly timing: Timing
}

interface Reading {
  readonly verdict: HealthVerdict['verdict']
  /** `accepted`, or the reason of the failure. */
  readonly state: string
  /** When a heartbeat was last accepted, in milliseconds since the epoch; null if never. */
  readonly lastSuccessAt: number | null
}

const FIRST_AFTER_MS = 15 * second

/**
 * Heartbeat to an outside receiver, with height and health verdict. If Prometheus runs on the host of the node, only
 * the missing heartbeat reveals that the host is down.
 */
export const heartbeat = (options: HeartbeatCollectorOptions): Collector<Reading> => {
  const { send, published, recorder, clock, timing } = options
  let lastSuccessAt: number | null = null
  const count = (result: 'accepted' | 'failed', by: number): void => {
    recorder.count('chain_agent_heartbeats_total', by, { result })
  }

  const sendOne = async ({ signal }: Context): Promise<Reading> => {
    const samples = [...published()]
    const known = createSampleIndex(samples)
    const { verdict, reasons } = healthVerdict(known, clock.now())
    const height = ownHeight(known) ?? null
    const maintenance =
      MAINTENANCE_REASONS.find((reason) => known.value('chain_agent_maintenance', { reason }) === 1) ?? null
    const document = {
      at: new Date(clock.now()).toISOString(),
      verdict,
      reasons,
      maintenance,
      height,
      blockTime: isoTime(newestBlock(known)?.time),
      blocksBehind: known.value('chain_block_difference') ?? null,
    }
    const state = await outcomeOf(send(document, signal))
    if (state === 'accepted') lastSuccessAt = clock.now()
    count('accepted', state === 'accepted' ? 1 : 0)
    count('failed', state === 'accepted' ? 0 : 1)
    return { verdict, state, lastSuccessAt }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: async (context, report) => {
      // Before the first readings the verdict is blind: every start of the agent would cause an alarm.
      await context.clock.sleep(Math.min(FIRST_AFTER_MS, timing.interval), context.signal)
      await poll(timing, sendOne)(context, report)
    },
    samples: (reading) =>
      sampleIfKnown(
        'chain_agent_heartbeat_last_success_timestamp_seconds',
        reading.lastSuccessAt === null ? null : reading.lastSuccessAt / 1000,
      ),
    states: ({ verdict, state }) => ({ heartbeat: state, verdict }),
  }
}

/** A failure is a reading, not an error: the time of the last success must still be exported. */
const outcomeOf = async (response: ReturnType<SendHeartbeat>): Promise<string> => {
  try {
    const { status } = await response
    return status >= 200 && status < 300 ? 'accepted' : `refused: HTTP status ${status}`
  } catch (error) {
    if (error instanceof SourceError) return summaryOf(asError(error))
    throw error
  }
}

const isoTime = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1000).toISOString()

export const offer: OfferCollector<typeof definition> = ({ config, heartbeatTo, published, recorder, clock }) => {
  const { urlFile } = config.heartbeat
  return {
    hasWork: urlFile !== null,
    role: 'outbound',
    create: (timing) =>
      heartbeat({
        send: heartbeatTo(urlFile ?? '', requestTimeout(timing, 1)),
        published,
        recorder,
        clock,
        timing,
      }),
  }
}
