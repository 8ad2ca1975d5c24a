import type { Clock } from '../../core/clock.ts'
import { duration, figure } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import type { IngestState } from '../../query/service/ingest/state.ts'

/** As much of a logger as is needed. */
export interface Log {
  info(text: string): void
  warn(text: string): void
  error(text: string): void
}

const PROGRESS_EVERY_MS = 10 * second
/** A trouble that comes again within this was not over. */
const QUIET_MS = 5 * second

/** Told the state again and again, it logs progress now and then, and each trouble once when it comes and when it ends. */
export const createNarrator = (log: Log, clock: Clock): ((state: IngestState) => void) => {
  let trouble: string | null = null
  let lastSeenAt = 0
  let before: Mark | null = null
  let wasAtHead = false

  const troubles = (state: IngestState, now: number): void => {
    if (state.trouble !== null) {
      if (state.trouble !== trouble) log.warn(state.trouble)
      trouble = state.trouble
      lastSeenAt = now
    } else if (trouble !== null && now - lastSeenAt >= QUIET_MS) {
      log.info(`Over: ${trouble}`)
      trouble = null
    }
  }

  const progress = (state: IngestState, now: number): void => {
    if (state.phase === 'tail' && !wasAtHead && state.indexed !== null) {
      log.info(`Following the node, at block ${figure(state.indexed)}`)
      wasAtHead = true
    }
    if (state.phase !== 'back-fill') {
      before = null
      return
    }
    wasAtHead = false
    const mark = { at: now, blocks: state.blocks, logs: state.logs }
    if (before !== null && now - before.at < PROGRESS_EVERY_MS) return
    if (before !== null) log.info(paceOf(state, before, mark))
    before = mark
  }

  return (state) => {
    // Whoever had it stop tells why.
    if (state.phase === 'stopped') return
    const now = clock.elapsed()
    troubles(state, now)
    progress(state, now)
  }
}

interface Mark {
  readonly at: number
  readonly blocks: number
  readonly logs: number
}

const paceOf = ({ indexed, nodeHeight }: IngestState, from: Mark, to: Mark): string => {
  const seconds = Math.max(0.001, (to.at - from.at) / second)
  const blocks = (to.blocks - from.blocks) / seconds
  const left =
    indexed === null || nodeHeight === null || blocks === 0
      ? undefined
      : (nodeHeight - indexed) / blocks
  return [
    `Indexed through block ${indexed === null ? 'none yet' : figure(indexed)}${nodeHeight === null ? '' : ` of ${figure(nodeHeight)}`}`,
    `${figure(Math.round(blocks))} blocks/s`,
    `${figure(Math.round((to.logs - from.logs) / seconds))} logs/s`,
    ...(left === undefined ? [] : [`${duration(left * second)} left`]),
  ].join(', ')
}
