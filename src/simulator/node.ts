import type { Clock } from '../core/clock.ts'
import type { Chain, Validator } from './chain/chain.ts'
import { type Condition, createTimeline, type Timeline } from './scenario/timeline.ts'
import { createHeights, type Heights } from './heights.ts'
import { createJournal, type Journal } from './journal/journal.ts'
import { createJournalContent, produceOldEntries } from './journal/content.ts'
import { LIVELY, type Pace } from './pace.ts'
import type { Scenario } from './scenario/scenario.ts'

interface NodeOptions {
  readonly clock: Clock
  readonly chain: Chain
  readonly prefix: string
  readonly scenario: Scenario
  /** Index of the node in the chain's validators. */
  readonly index?: number
  readonly pace?: Pace
  /** How far into its scenario the node starts, in milliseconds. */
  readonly elapsedMs?: number
}

/** A simulated node: its state and outputs as a function of its scenario and of the time. */
export interface SimulatedNode {
  /** The seed of its identifiers. */
  readonly name: string
  readonly prefix: string
  readonly chain: Chain
  readonly own: Validator
  readonly heights: Heights
  /** Its scenario as a timeline. */
  readonly timeline: Timeline
  readonly journal: Journal
  now(): number
  condition(): Condition
}

export const createNode = ({
  clock,
  chain,
  prefix,
  scenario,
  index = 0,
  pace = LIVELY,
  elapsedMs = 0,
}: NodeOptions): SimulatedNode => {
  const own = chain.validators[index]
  if (!own) throw new RangeError(`there is no validator ${index} in a network of ${chain.validators.length}`)
  const beginMs = clock.now() - elapsedMs
  const name = `${prefix}/${chain.seed}/${index}/${beginMs}`
  const timeline = createTimeline(scenario, beginMs)
  const heights = createHeights(chain, timeline)
  const subject = { node: name, prefix, own, chain, timeline, heights }
  return {
    name,
    prefix,
    chain,
    own,
    heights,
    timeline,
    journal: createJournal({
      node: name,
      now: clock.now,
      beginMs: beginMs - pace.pastMs,
      produce: createJournalContent(subject),
      produceOld: () => produceOldEntries(subject),
      keep: pace.keptEntries,
      state: () => timeline.conditionAt(clock.now()).journal,
    }),
    now: clock.now,
    condition: () => timeline.conditionAt(clock.now()),
  }
}
