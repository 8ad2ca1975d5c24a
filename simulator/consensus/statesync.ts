import type { Block, Chain } from '../chain.ts'
import { directiveTable, duration, taking } from '../scenario/directives.ts'
import type { Condition, Effect, Timeline } from '../scenario/timeline.ts'
import { NODE_ROLES, restartAll } from '../services/service.ts'
import { certificateOf, type LogLine, short } from './log-lines.ts'

/**
 * A period in which the node does not follow the chain, because it fetches its state, or because its start waits for
 * blocks that no peer serves.
 */
export interface Statesync {
  readonly kind: 'statesync' | 'start'
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

/** The statesync of the process that was started at this time. */
export const ownStatesync = ({ statesync }: Condition, startedMs: number): Statesync | undefined =>
  statesync && statesync.fromMs >= startedMs ? statesync : undefined

/** Whether the RPC port listens: not while the service is down or refuses, or waits for consensus to be live. */
export const rpcListens = (condition: Condition, ms: number): boolean =>
  condition.services.rpc.state === 'active' && condition.rpcAnswers && !isSyncing(condition, ms)

/** How far a node that needs statesync is behind, in blocks; it warns from 30,000 on. */
const GAP = 40_000n

/** The height of the node at the start. */
export const heightBefore = (chain: Chain, { kind, fromMs }: Statesync): bigint =>
  chain.headAt(fromMs).seqNum - (kind === 'start' ? 0n : GAP)

export interface Progress {
  readonly progress: bigint
  readonly target: bigint
}

/** The estimate of the node, from 0 to the target; both are 0 if it never needed statesync. */
export const progressAt = (chain: Chain, statesync: Statesync | undefined, ms: number): Progress => {
  if (!statesync || statesync.kind === 'start' || ms < statesync.fromMs + WAITING_S * SECOND) {
    return { progress: 0n, target: 0n }
  }
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
    statesync: { kind: 'statesync', fromMs: atMs, lastsMs, untilMs: atMs + lastsMs, leftMs: undefined },
    services: restartAll(condition.services, NODE_ROLES, atMs),
  })

/** Restarts the services of the node, with a forkpoint whose blocks no peer serves. */
const startHangs: Effect = (condition, atMs) => ({
  ...condition,
  statesync: { kind: 'start', fromMs: atMs, lastsMs: 0, untilMs: Infinity, leftMs: undefined },
  services: restartAll(condition.services, NODE_ROLES, atMs),
})

const running =
  (kind: Statesync['kind'], change: (statesync: Statesync, atMs: number) => Statesync): Effect =>
  (condition, atMs) => {
    const { statesync } = condition
    if (statesync?.kind !== kind || atMs >= statesync.untilMs) return condition
    return { ...condition, statesync: change(statesync, atMs) }
  }

/** Directives for statesync; `stalls` and `goes` have no effect while there is none. */
export const statesyncDirectives = directiveTable({
  'node syncs': [
    'the node restarts and needs statesync for that time: no RPC, no blocks',
    taking(duration, startStatesync),
  ],
  'node hangs': [
    'the node restarts, and its start does not end: no peer serves the blocks of its forkpoint',
    startHangs,
  ],
  'node starts': [
    'the start that hangs ends: a peer serves the blocks',
    running('start', (statesync, atMs) => ({ ...statesync, untilMs: atMs })),
  ],
  'statesync stalls': [
    'statesync is stalled: no peer responds',
    running('statesync', (statesync, atMs) =>
      statesync.leftMs === undefined
        ? { ...statesync, untilMs: Infinity, leftMs: statesync.untilMs - atMs }
        : statesync,
    ),
  ],
  'statesync goes': [
    'statesync resumes where it stalled',
    running('statesync', (statesync, atMs) =>
      statesync.leftMs === undefined
        ? statesync
        : { ...statesync, untilMs: atMs + statesync.leftMs, leftMs: undefined },
    ),
  ],
})

const SECOND = 1000
/** Seconds in which consensus waits for the blocks of its root, before it knows its target. */
const WAITING_S = 5

/** How often consensus requests the blocks from another peer; in the node each 0.7 s. */
export const REQUEST_MS = 1000

/** The log lines of consensus until it is live, as a pure function of time. */
export const createStatesyncLog = (chain: Chain, timeline: Timeline) => {
  const syncs = timeline.changes.flatMap(({ before, after, atMs }) => {
    if (after.statesync && after.statesync !== before.statesync) return [after.statesync]
    // A start from a recent forkpoint: the ledger has the blocks, and the database their state.
    if (before.services.bft.generation === after.services.bft.generation) return []
    return [{ kind: 'start', fromMs: atMs, lastsMs: SECOND, untilMs: atMs + SECOND, leftMs: undefined } as const]
  })
  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const statesync of syncs) {
      const start = Math.max(0, Math.ceil((fromMs - statesync.fromMs) / SECOND))
      const end = Math.floor((Math.min(toMs, statesync.untilMs) - statesync.fromMs) / SECOND)
      for (let second = start; second <= end; second += 1) {
        const atMs = statesync.fromMs + second * SECOND
        const condition = timeline.conditionAt(atMs)
        const runs = condition.services.bft.state === 'active'
        const isCurrent = condition.statesync === statesync || isOrdinary(statesync)
        if (atMs > fromMs && runs && isCurrent) {
          yield* linesOf(chain, statesync, second)
        }
      }
    }
  }
}

/** A start that needs no peer. */
const isOrdinary = ({ kind, lastsMs }: Statesync): boolean => kind === 'start' && lastsMs > 0

/** The lines of one second until consensus is live. */
function* linesOf(chain: Chain, statesync: Statesync, second: number): Generator<LogLine> {
  const { kind, fromMs, untilMs, leftMs } = statesync
  const root = chain.headAt(fromMs)
  const lasts = Math.floor((untilMs - fromMs) / SECOND)
  const line = { atMs: fromMs + second * SECOND, level: 'INFO', target: 'state' } as const
  const target = String(root.seqNum - 3n)
  if (second === 1) {
    const fields = { root: short(root.id), high_certificate: certificateOf(root) }
    yield { ...line, message: 'starting up, syncing', fields }
    yield { ...line, ...stillSyncing('Waiting', root) }
  }
  if (kind === 'start' && second > 1 && second < lasts) yield* unanswered(line.atMs)
  if (kind === 'statesync' && second === WAITING_S) {
    const message = 'local tip over 30000 blocks older than root. consider restoring from snapshot first'
    const fields = { latest_finalized_block: String(heightBefore(chain, statesync)), delay_seq_num: target }
    yield { ...line, level: 'WARN', message, fields }
  }
  if (kind === 'statesync' && second > WAITING_S && second < lasts) {
    if (second % 2 === 0) yield { ...line, ...stillSyncing('Started', root) }
    else if (leftMs === undefined) yield applied(chain, { atMs: line.atMs, second })
  }
  if (second === lasts) {
    yield { ...line, message: 'done db statesync', fields: { target, n: target } }
    const fields = { root_info: rootInfo(root), high_certificate: certificateOf(root) }
    yield { ...line, message: 'done syncing, initializing consensus', fields }
  }
}

/** Consensus knows its root only after it has received the block. */
const stillSyncing = (status: 'Waiting' | 'Started', { seqNum }: Block): Pick<LogLine, 'message' | 'fields'> => ({
  message: 'still syncing...',
  fields: {
    db_status: status,
    earliest_block: status === 'Waiting' ? 'None' : `Some(${seqNum - 5n})`,
    root_seq_num: status === 'Waiting' ? 'None' : String(seqNum),
  },
})

/** No peer answers the request for the blocks of the root. */
function* unanswered(atMs: number): Generator<LogLine> {
  const line = { atMs, level: 'DEBUG', target: 'blocksync::blocksync' } as const
  yield { ...line, message: 'blocksync: self request timeout' }
  yield { ...line, message: 'blocksync: header request timed out, sending new request' }
}

const applied = (chain: Chain, { atMs, second }: { readonly atMs: number; readonly second: number }): LogLine => {
  const from = chain.validators[second % chain.validators.length]?.publicKey ?? ''
  const message = 'statesync client thread applied response'
  const fields = { elapsed: '1.204312ms', from, response: 'StateSyncResponse { .. }' }
  return { atMs, level: 'DEBUG', target: 'statesync_executor::client', message, fields }
}

const rootInfo = ({ round, seqNum, epoch, id, timeMs }: Block): string =>
  `RootInfo { round: ${round}, seq_num: ${seqNum}, epoch: ${epoch}, block_id: ${short(id)}, timestamp_ns: ${timeMs}000000 }`
