import type { Clock } from '../../../src/core/clock.ts'
import { summaryOf } from '../../../src/core/errors.ts'
import { duration, figure } from '../../../src/core/format.ts'
import { type Recorder, type Sample, sample, sampleIfKnown } from '../../../src/core/metric.ts'
import { minute, second } from '../../../src/core/units.ts'
import type { HttpError } from '../../service/api/http-error.ts'
import type { RequestObserver } from '../../service/api/send.ts'
import type { IngestState } from '../../service/ingest/writer.ts'
import { INGEST_FAILURES, INGEST_PHASES, QUERY_PATHS } from '../../service/metrics.ts'
import type { StoreSize } from '../../store/store.ts'

/** Conditions that the service waits for before it is ready; empty if it is ready. The state is null until the store is open. */
export const waitingFor = (state: IngestState | null, readyLag: number, now: number): readonly string[] => {
  if (state === null) return ['the store']
  const { phase, indexed: height, trouble } = state
  const nodeHeight = recentNodeHeight(state, now)
  if (phase === 'incomplete') return [`the logs of a block (${trouble})`]
  if (phase === 'stopped') return ['the operator: the ingest has stopped, and the log has the reason']
  const because = phase === 'waiting' && trouble !== null ? ` (${trouble})` : ''
  if (nodeHeight === null) return [`the finalized block of the node${because}`]
  if (height === null) return [`the first block${because}`]
  const behind = nodeHeight - height
  // Another node, or a node that starts again from an older snapshot.
  if (behind < -readyLag) return [`the node: its finalized block ${nodeHeight} is below block ${height} of the store`]
  return behind > readyLag ? [`${behind} more blocks of the node${because}`] : []
}

/** State of the service at a scrape; unknown values are null. */
export interface ServiceState {
  readonly state: IngestState | null
  readonly size: StoreSize | null
  readonly limitBytes: number | null
  readonly streams: number
}

/** After this time, in milliseconds, the height of the node counts as unknown. */
const HEIGHT_LASTS_MS = minute

/** The finalized height of the node, if it is recent. */
export const recentNodeHeight = (state: IngestState | null, now: number): number | null =>
  state === null || state.nodeHeightAt === null || now - state.nodeHeightAt > HEIGHT_LASTS_MS ? null : state.nodeHeight

export const samplesOf = (service: ServiceState, now: number): readonly Sample[] => {
  const { state, size, limitBytes, streams } = service
  const phase = state?.phase ?? 'starting'
  return [
    ...sampleIfKnown('chain_query_service_node_height', recentNodeHeight(state, now)),
    ...sampleIfKnown('chain_query_service_height', state?.indexed),
    ...sampleIfKnown('chain_query_service_first_block', state?.first),
    ...sampleIfKnown('chain_query_service_indexed_block_timestamp_seconds', state?.indexedTimestamp),
    ...INGEST_PHASES.map((one) => sample('chain_query_service_phase', one === phase, { phase: one })),
    ...(state === null ? [] : countsOf(state)),
    sample('chain_query_service_height_streams', streams),
    ...sampleIfKnown('chain_query_service_store_bytes', size?.bytes),
    ...sampleIfKnown('chain_query_service_store_limit_bytes', limitBytes),
    ...sampleIfKnown('chain_query_service_store_logs', size?.logs),
  ]
}

const countsOf = ({ blocks, logs, corrected, errors }: IngestState): readonly Sample[] => [
  sample('chain_query_service_blocks_indexed_total', blocks),
  sample('chain_query_service_logs_indexed_total', logs),
  sample('chain_query_service_blocks_corrected_total', corrected),
  ...INGEST_FAILURES.map((kind) => sample('chain_query_service_ingest_errors_total', errors[kind], { kind })),
]

/** Exported as 0 from the start, so that increase() sees the first one. */
const EXPECTED = ['200', '400', '500', '503'] as const

export const createRequestMetrics = (recorder: Recorder): RequestObserver => {
  for (const path of QUERY_PATHS) {
    if (path === 'other') continue
    recorder.count('chain_query_service_response_bytes_total', 0, { path })
    for (const code of EXPECTED) {
      recorder.count('chain_query_service_requests_total', 0, { path, code })
    }
  }
  recorder.count('chain_query_service_logs_returned_total', 0)
  return {
    requestFinished: ({ path, code, seconds, bytes, logs }) => {
      recorder.count('chain_query_service_requests_total', 1, { path, code: `${code}` })
      if (seconds !== null) recorder.observe('chain_query_service_request_duration_seconds', seconds, { path })
      recorder.count('chain_query_service_response_bytes_total', bytes, { path })
      recorder.count('chain_query_service_logs_returned_total', logs)
    },
  }
}

export interface Log {
  info(text: string): void
  warn(text: string): void
  error(text: string): void
}

const PROGRESS_EVERY_MS = 10 * second
/** A problem counts as resolved after this time without it, in milliseconds. */
const RESOLVED_AFTER_MS = 5 * second

/**
 * Called with the state about once a second. It logs progress, and each problem once when it starts and when it is
 * resolved.
 */
export const createProgressLog = (log: Log, clock: Clock): ((state: IngestState) => void) => {
  let trouble: string | null = null
  let troubleAt = 0
  let before: ProgressPoint | null = null
  let wasAtHead = false

  const logTrouble = (state: IngestState, now: number): void => {
    if (state.trouble !== null) {
      if (state.trouble !== trouble) log.warn(state.trouble)
      trouble = state.trouble
      troubleAt = now
    } else if (trouble !== null && now - troubleAt >= RESOLVED_AFTER_MS) {
      log.info(`Resolved: ${trouble}`)
      trouble = null
    }
  }

  const logPace = (state: IngestState, now: number): void => {
    if (state.phase === 'tail' && !wasAtHead && state.indexed !== null) {
      log.info(`Following the node at block ${figure(state.indexed)}`)
      wasAtHead = true
    }
    if (state.phase !== 'backfill') {
      before = null
      return
    }
    wasAtHead = false
    const point = { at: now, blocks: state.blocks, logs: state.logs }
    if (before !== null && now - before.at < PROGRESS_EVERY_MS) return
    if (before !== null) log.info(progressText(state, before, point))
    before = point
  }

  return (state) => {
    // The code that stopped the ingest logs the reason.
    if (state.phase === 'stopped') return
    const now = clock.elapsed()
    logTrouble(state, now)
    logPace(state, now)
  }
}

type ProgressPoint = Readonly<Record<'at' | 'blocks' | 'logs', number>>

const progressText = ({ indexed, nodeHeight }: IngestState, from: ProgressPoint, to: ProgressPoint): string => {
  const seconds = Math.max(0.001, (to.at - from.at) / second)
  const blocks = (to.blocks - from.blocks) / seconds
  const left = indexed === null || nodeHeight === null || blocks === 0 ? undefined : (nodeHeight - indexed) / blocks
  return [
    `Indexed up to block ${indexed === null ? 'none yet' : figure(indexed)}${nodeHeight === null ? '' : ` of ${figure(nodeHeight)}`}`,
    `${figure(Math.round(blocks))} blocks/s`,
    `${figure(Math.round((to.logs - from.logs) / seconds))} logs/s`,
    ...(left === undefined ? [] : [`${duration(left * second)} left`]),
  ].join(', ')
}

const ESTIMATE_OVER_MS = minute
const ESTIMATE_AFTER_MS = 10 * second

/**
 * Estimates the end of a backfill from the last minute: at the pace at which the distance to the node decreases, which
 * new blocks of the chain slow down.
 */
export const createBackfillEstimate = (clock: Clock) => {
  let points: readonly { readonly at: number; readonly left: number }[] = []
  return {
    /** Called with the state about once a second. */
    record: ({ phase, indexed, nodeHeight }: IngestState): void => {
      const at = clock.elapsed()
      points =
        phase !== 'backfill' || indexed === null || nodeHeight === null
          ? []
          : [...points.filter((one) => at - one.at < ESTIMATE_OVER_MS), { at, left: nodeHeight - indexed }]
    },
    /** In milliseconds since the epoch; null is unknown. */
    endsAt: (): number | null => {
      const [from, to] = [points[0], points.at(-1)]
      if (!from || !to || to.at - from.at < ESTIMATE_AFTER_MS || to.left >= from.left) return null
      return clock.now() + (to.left * (to.at - from.at)) / (from.left - to.left)
    },
  }
}

/** After this time without the error, in milliseconds, it is logged again. */
const REPEAT_AFTER_MS = minute

/** Logs repeated errors once: again only after a different error or a pause. */
export const createErrorLog = (log: Log, clock: Clock): ((error: Error) => void) => {
  let lastSummary = ''
  let loggedAt = -Infinity
  return (error) => {
    const summary = summaryOf(error)
    const now = clock.elapsed()
    if (summary !== lastSummary || now - loggedAt > REPEAT_AFTER_MS) log.error(error.message)
    lastSummary = summary
    loggedAt = now
  }
}

/** Refusals that are known: a client tries thirteen times before it tells its user. */
const MAX_REFUSALS = 1000
const REFUSAL_AGAIN_MS = 10 * minute

/** Logs what clients are refused, once per client and reason: the user of a client may see the status alone. */
export const createRefusalLog = (log: Log, clock: Clock): ((client: string, error: HttpError) => void) => {
  const logged = new Map<string, number>()
  return (client, { message, details: { path } }) => {
    const refusal = `Refused a request from ${client}: ${message}${path === undefined || path === '' ? '' : ` (${path})`}`
    const now = clock.elapsed()
    if (now - (logged.get(refusal) ?? -Infinity) < REFUSAL_AGAIN_MS) return
    log.info(refusal)
    logged.delete(refusal)
    logged.set(refusal, now)
    const [oldest] = logged.keys()
    if (logged.size > MAX_REFUSALS && oldest !== undefined) logged.delete(oldest)
  }
}
