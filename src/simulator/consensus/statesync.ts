import type { Block, Chain } from '../chain.ts'
import { directive, type Directive, duration, type Effect, taking } from '../scenario/directives.ts'
import type { Condition, Timeline } from '../scenario/timeline.ts'
import { NODE_ROLES, restartAll } from '../services/service.ts'
import { certificateOf, type LogLine, short } from './log-lines.ts'

/** A period in which the node fetches the state of the chain instead of following it. */
export interface Statesync {
  readonly fromMs: number
  /** How long it takes unless it stalls. */
  readonly lastsMs: number
  /** Infinity while it is stalled. */
  readonly untilMs: number
  /** The remaining time while it is stalled; undefined while it progresses. */
  readonly leftMs: number | undefined
}

export const isSyncing = ({ statesync }: Condition, ms: number): boolean =>
  statesync !== undefined && ms < statesync.untilMs

/** Whether the RPC port listens: not while the service is down or refuses, or while the node needs statesync. */
export const rpcListens = (condition: Condition, ms: number): boolean =>
  condition.services.rpc.state === 'active' && condition.rpcAnswers && !isSyncing(condition, ms)

/** How far a node that needs statesync is behind, in blocks; it warns from 30,000 on. */
const GAP = 40_000n

/** The height of the node at the start of statesync. */
export const heightBefore = (chain: Chain, { fromMs }: Statesync): bigint => chain.headAt(fromMs).seqNum - GAP

export interface Progress {
  readonly progress: bigint
  readonly target: bigint
}

/** The estimate of the node, from 0 to the target; both are 0 if it never needed statesync. */
export const progressAt = (chain: Chain, statesync: Statesync | undefined, ms: number): Progress => {
  if (!statesync) return { progress: 0n, target: 0n }
  const { fromMs, lastsMs, untilMs, leftMs } = statesync
  const target = chain.headAt(fromMs).seqNum
  if (ms >= untilMs) return { progress: target, target }
  const doneMs = lastsMs - (leftMs ?? untilMs - ms)
  const permille = Math.floor((1000 * Math.max(0, doneMs)) / lastsMs)
  return { progress: (target * BigInt(permille)) / 1000n, target }
}

/** Restarts the services of the node, with a database too old to resume from. */
const startStatesync =
  (lastsMs: number): Effect =>
  (condition, atMs) => ({
    ...condition,
    statesync: { fromMs: atMs, lastsMs, untilMs: atMs + lastsMs, leftMs: undefined },
    services: restartAll(condition.services, NODE_ROLES, atMs),
  })

const running =
  (change: (statesync: Statesync, atMs: number) => Statesync): Effect =>
  (condition, atMs) => {
    const { statesync } = condition
    if (!statesync || atMs >= statesync.untilMs) return condition
    return { ...condition, statesync: change(statesync, atMs) }
  }

/** Directives for statesync; `stalls` and `goes` have no effect while there is none. */
export const statesyncDirectives: readonly Directive[] = [
  directive(
    'node syncs',
    'the node restarts and needs statesync for that time: no RPC, no blocks',
    taking(duration, startStatesync),
  ),
  directive(
    'statesync stalls',
    'statesync is stalled: no peer responds',
    running((statesync, atMs) =>
      statesync.leftMs === undefined
        ? { ...statesync, untilMs: Infinity, leftMs: statesync.untilMs - atMs }
        : statesync,
    ),
  ),
  directive(
    'statesync goes',
    'statesync resumes where it stalled',
    running((statesync, atMs) =>
      statesync.leftMs === undefined
        ? statesync
        : { ...statesync, untilMs: atMs + statesync.leftMs, leftMs: undefined },
    ),
  ),
]

const SECOND = 1000
/** Seconds in which the database waits for a first target, and between the end of its statesync and the start of consensus. */
const WAITING_S = 5
const TAIL_S = 5

/** The log lines of consensus while the node needs statesync, as a pure function of time. */
export const createStatesyncLog = (chain: Chain, timeline: Timeline) => {
  const syncs = timeline.changes.flatMap(({ before, after }) =>
    after.statesync && after.statesync !== before.statesync ? [after.statesync] : [],
  )
  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const statesync of syncs) {
      const start = Math.max(0, Math.ceil((fromMs - statesync.fromMs) / SECOND))
      const end = Math.floor((Math.min(toMs, statesync.untilMs) - statesync.fromMs) / SECOND)
      for (let second = start; second <= end; second += 1) {
        const atMs = statesync.fromMs + second * SECOND
        const condition = timeline.conditionAt(atMs)
        const runs = condition.services.bft.state === 'active'
        if (atMs > fromMs && runs && condition.statesync === statesync) {
          yield* linesOf(chain, statesync, second)
        }
      }
    }
  }
}

/** The lines of one second of a statesync. */
function* linesOf(chain: Chain, statesync: Statesync, second: number): Generator<LogLine> {
  const atMs = statesync.fromMs + second * SECOND
  const root = chain.headAt(statesync.fromMs)
  const lasts = Math.floor((statesync.untilMs - statesync.fromMs) / SECOND)
  const info = (message: string, fields: LogLine['fields'] & object): LogLine => ({
    atMs,
    level: 'INFO',
    target: 'state',
    message,
    fields,
  })
  if (second === 1) {
    yield info('starting up, syncing', { root: short(root.id), high_certificate: certificateOf(root) })
    yield {
      ...info('local tip over 30000 blocks older than root. consider restoring from snapshot first', {
        latest_finalized_block: String(heightBefore(chain, statesync)),
        delay_seq_num: String(root.seqNum - 3n),
      }),
      level: 'WARN',
    }
  } else if (second === lasts - TAIL_S) {
    const target = String(root.seqNum - 3n)
    yield info('done db statesync', { target, n: target })
  } else if (second === lasts) {
    yield info('done syncing, initializing consensus', {
      root_info: rootInfo(root),
      high_certificate: certificateOf(root),
    })
  } else if (second > 1 && second % 2 === 0) {
    const status = second < WAITING_S ? 'Waiting' : second < lasts - TAIL_S ? 'Started' : 'Done'
    yield info('still syncing...', {
      db_status: status,
      earliest_block: status === 'Waiting' ? 'None' : `Some(${root.seqNum - 260n})`,
      root_seq_num: status === 'Waiting' ? `Some(${root.seqNum})` : String(root.seqNum),
    })
  } else if (second > WAITING_S && second < lasts - TAIL_S && statesync.leftMs === undefined) {
    const from = chain.validators[second % chain.validators.length]?.publicKey ?? ''
    const message = 'statesync client thread applied response'
    const fields = { elapsed: '1.204312ms', from, response: 'StateSyncResponse { .. }' }
    yield { atMs, level: 'DEBUG', target: 'statesync_executor::client', message, fields }
  }
}

const rootInfo = ({ round, seqNum, epoch, id, timeMs }: Block): string =>
  `RootInfo { round: ${round}, seq_num: ${seqNum}, epoch: ${epoch}, block_id: ${short(id)}, timestamp_ns: ${timeMs}000000 }`
