import { type Condition, createCondition } from './condition.ts'
import type { Scenario } from './scenario.ts'

/** A stretch of time in which nothing changes with the node. */
interface Segment {
  readonly fromMs: number
  readonly condition: Condition
}

/** A moment at which a scenario changes something. */
export interface Change {
  readonly atMs: number
  readonly before: Condition
  readonly after: Condition
}

/** A scenario laid out in time: what holds for a node at any moment. */
export interface Timeline {
  readonly beginMs: number
  readonly segments: readonly [Segment, ...Segment[]]
  readonly changes: readonly Change[]
  conditionAt(ms: number): Condition
}

/**
 * What a scenario says of its second 0 has always been so: a node that lags from the beginning has
 * lagged before, and need not first fall behind.
 */
export const createTimeline = ({ steps }: Pick<Scenario, 'steps'>, beginMs: number): Timeline => {
  const changes: Change[] = []
  let condition = createCondition(beginMs)
  let first: Segment = { fromMs: -Infinity, condition }
  const later: Segment[] = []
  for (const { afterMs, effect } of steps) {
    const atMs = beginMs + afterMs
    const before = condition
    condition = effect(before, atMs)
    changes.push({ atMs, before, after: condition })
    if (afterMs === 0) first = { ...first, condition }
    else later.push({ fromMs: atMs, condition })
  }
  return {
    beginMs,
    segments: [first, ...later],
    changes,
    conditionAt: (ms) => (later.findLast(({ fromMs }) => fromMs <= ms) ?? first).condition,
  }
}
