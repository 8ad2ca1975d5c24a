import type { Clock } from '../../core/clock.ts'
import { type Collector, type Context, poll, type Timing } from '../../core/collector.ts'
import { SourceError, summaryOf } from '../../core/errors.ts'
import { createSampleIndex } from '../../core/sample-index.ts'
import { asError } from '../../core/outcome.ts'
import type { Recorder } from '../../core/recorder.ts'
import { second } from '../../core/units.ts'
import { MAINTENANCE_REASONS } from '../../core/maintenance.ts'
import { type Sample, sampleIfKnown } from '../../core/metric.ts'
import type { SendHeartbeat } from '../../sources/endpoints.ts'
import { newestBlock, ownHeight } from '../derived/views.ts'
import { judge, type Verdict } from '../derived/verdict.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'
import { requestTimeout } from '../shared/request.ts'

interface Parts {
  readonly send: SendHeartbeat
  /** What the other collectors have published. */
  readonly published: () => Iterable<Sample>
  readonly recorder: Recorder
  readonly clock: Clock
  readonly timing: Timing
}

interface Reading {
  readonly verdict: Verdict['verdict']
  /** `accepted`, or why not. */
  readonly state: string
  /** When it was last accepted, in milliseconds since the epoch. */
  readonly lastSuccessAt: number | null
}

const FIRST_AFTER_MS = 15 * second

/**
 * A sign of life to somebody outside, with height and verdict. Where Prometheus shares the host with
 * the node, this alone speaks when the host is gone: by its silence.
 */
export const heartbeat = (parts: Parts): Collector<Reading> => {
  const { send, published, recorder, clock, timing } = parts
  let lastSuccessAt: number | null = null
  const count = (result: 'accepted' | 'failed', by: number): void => {
    recorder.count('chain_agent_heartbeats_total', by, { result })
  }

  const beat = async ({ signal }: Context): Promise<Reading> => {
    const samples = [...published()]
    const known = createSampleIndex(samples)
    const { verdict, reasons } = judge(known, clock.now())
    const height = ownHeight(known) ?? null
    const maintenance =
      MAINTENANCE_REASONS.find(
        (reason) => known.value('chain_agent_maintenance', { reason }) === 1,
      ) ?? null
    const document = {
      at: new Date(clock.now()).toISOString(),
      verdict,
      reasons,
      maintenance,
      height,
      blockTime: isoTime(newestBlock(known)?.time),
      blocksBehind: known.value('chain_block_difference') ?? null,
    }
    const state = await sent(send(document, signal))
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
      // A first word before anybody was asked would be an alarm at every start of the agent.
      await context.clock.sleep(Math.min(FIRST_AFTER_MS, timing.interval), context.signal)
      await poll(timing, beat)(context, report)
    },
    samples: (reading) =>
      sampleIfKnown(
        'chain_agent_heartbeat_last_success_timestamp_seconds',
        reading.lastSuccessAt === null ? null : reading.lastSuccessAt / 1000,
      ),
    states: ({ verdict, state }) => ({ heartbeat: state, verdict }),
  }
}

/** That nobody takes it is a reading: the last success must go on to be told. */
const sent = async (answer: ReturnType<SendHeartbeat>): Promise<string> => {
  try {
    const { status } = await answer
    return status >= 200 && status < 300 ? 'accepted' : `refused: HTTP status ${status}`
  } catch (error) {
    if (error instanceof SourceError) return summaryOf(asError(error))
    throw error
  }
}

const isoTime = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1000).toISOString()

export const offer: OfferCollector = ({ config, heartbeatTo, published, recorder, clock }) => {
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
