import type { Chain } from '../chain/chain.ts'
import type { Condition } from './condition.ts'

/** A while in which the node fetches the state of the chain instead of following it. */
export interface Statesync {
  readonly fromMs: number
  /** How long it takes, while it goes on. */
  readonly lastsMs: number
  /** Without an end while it is stalled. */
  readonly untilMs: number
  /** What is left of it while it is stalled; undefined while it goes on. */
  readonly leftMs: number | undefined
}

export const isSyncing = ({ statesync }: Condition, ms: number): boolean =>
  statesync !== undefined && ms < statesync.untilMs

/** A port that nothing listens on while the service is down or refuses, nor while the node needs statesync. */
export const rpcListens = (condition: Condition, ms: number): boolean =>
  condition.services.rpc.state === 'active' && condition.rpcAnswers && !isSyncing(condition, ms)

/** A node that needs statesync is so many blocks behind: more than 30,000, of which it warns. */
const GAP = 40_000n

/** The height that the node had when statesync began. */
export const heightBefore = (chain: Chain, { fromMs }: Statesync): bigint =>
  chain.headAt(fromMs).seqNum - GAP

export interface Progress {
  readonly progress: bigint
  readonly target: bigint
}

/** As the node estimates it, from 0 to the target; 0 of 0 where it never needed statesync. */
export const progressAt = (
  chain: Chain,
  statesync: Statesync | undefined,
  ms: number,
): Progress => {
  if (!statesync) return { progress: 0n, target: 0n }
  const { fromMs, lastsMs, untilMs, leftMs } = statesync
  const target = chain.headAt(fromMs).seqNum
  if (ms >= untilMs) return { progress: target, target }
  const doneMs = lastsMs - (leftMs ?? untilMs - ms)
  const permille = Math.floor((1000 * Math.max(0, doneMs)) / lastsMs)
  return { progress: (target * BigInt(permille)) / 1000n, target }
}
