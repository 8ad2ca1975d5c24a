import type { Chain } from './chain/chain.ts'
import type { Condition, Timeline } from './scenario/timeline.ts'
import { heightBefore, isSyncing } from './consensus/statesync.ts'

type HeightAt = (ms: number) => bigint

/** The height of each part of a node at any time. No height ever decreases. */
export interface Heights {
  readonly consensus: HeightAt
  readonly execution: HeightAt
  readonly rpc: HeightAt
}

export const createHeights = (chain: Chain, timeline: Timeline): Heights => {
  const consensus = track(
    timeline,
    (ms, condition) => {
      const { behind, consensusRuns, services, statesync } = condition
      if (!consensusRuns || services.bft.state !== 'active') return undefined
      return statesync && isSyncing(condition, ms) ? heightBefore(chain, statesync) : chain.headAt(ms).seqNum - behind
    },
    () => chain.headAt(timeline.beginMs).seqNum,
  )
  const execution = track(
    timeline,
    (ms, { services }) => (services.execution.state === 'active' ? consensus(ms) : undefined),
    () => consensus(timeline.beginMs),
  )
  const rpc = track(
    timeline,
    (ms, { rpcFrozen }) => (rpcFrozen ? undefined : execution(ms)),
    () => execution(timeline.beginMs),
  )
  return { consensus, execution, rpc }
}

/**
 * A height that is what `follow` returns, and keeps its value while `follow` returns undefined. `initial` is the value
 * before `follow` first returns one.
 */
const track = (
  { segments }: Timeline,
  follow: (ms: number, condition: Condition) => bigint | undefined,
  initial: () => bigint,
): HeightAt => {
  const starts = new Map<number, bigint>()
  const startOf = (index: number): bigint | undefined => {
    const segment = segments[index]
    if (index === 0 || !segment) return undefined
    const start = starts.get(index) ?? within(index - 1, segment.fromMs)
    starts.set(index, start)
    return start
  }
  const within = (index: number, ms: number): bigint => {
    const start = startOf(index)
    const next = follow(ms, (segments[index] ?? segments[0]).condition)
    if (next === undefined) return start ?? initial()
    return start === undefined || next > start ? next : start
  }
  return (ms) =>
    within(
      segments.findLastIndex(({ fromMs }) => fromMs <= ms),
      ms,
    )
}
