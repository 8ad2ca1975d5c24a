/** The state of a node between two lines of its scenario; node.ts adds the members, which each part of the node defines next to its directives. */
export interface Condition {}

/** How a line of a scenario changes the node, at its time. */
export type Effect = (condition: Condition, atMs: number) => Condition

/** A line of a scenario. */
export interface Step {
  /** Time since the start of the simulation. */
  readonly afterMs: number
  /** The line in the file. */
  readonly text: string
  readonly effect: Effect
}

/** A period in which the condition of the node does not change. */
interface Segment {
  readonly fromMs: number
  readonly condition: Condition
}

/** A change by a directive. */
export interface Change {
  readonly atMs: number
  readonly before: Condition
  readonly after: Condition
}

/** The condition of a node at any time of its scenario. */
export interface Timeline {
  readonly beginMs: number
  readonly segments: readonly [Segment, ...Segment[]]
  readonly changes: readonly Change[]
  conditionAt(ms: number): Condition
}

/** The parts of a time range with one condition each. */
export const intervals = ({ segments }: Timeline, fromMs: number, toMs: number) =>
  segments
    .map(({ fromMs: begins, condition }, index) => ({
      condition,
      from: Math.max(begins, fromMs),
      to: Math.min(segments[index + 1]?.fromMs ?? Infinity, toMs),
    }))
    .filter(({ from, to }) => from < to)

/**
 * Directives at second 0 apply to the past as well: a node that lags from the start has always lagged, and does not
 * fall behind first.
 */
export const createTimeline = (initial: Condition, steps: readonly Step[], beginMs: number): Timeline => {
  const changes: Change[] = []
  let condition = initial
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
