import type { Clock } from '../../core/clock.ts'
import { summaryOf } from '../../core/errors.ts'
import { duration, figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import type { IngestState } from '../../query/service/ingest/state.ts'

/** The part of a logger that the service needs. */
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
    if (state.phase !== 'back-fill') {
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

interface ProgressPoint {
  readonly at: number
  readonly blocks: number
  readonly logs: number
}

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
