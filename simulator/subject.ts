import type { Chain, Validator } from './chain.ts'
import type { Journal } from './journal/entry.ts'
import type { Condition, Timeline } from './scenario/timeline.ts'

export type HeightAt = (ms: number) => bigint

/** The height of each part of a node at any time; `finalized` is that of the RPC. No height ever decreases. */
export type Heights = Readonly<Record<'consensus' | 'execution' | 'rpc' | 'finalized', HeightAt>>

/** A node as its outputs depend on it. */
export interface NodeSubject {
  /** The seed of its identifiers. */
  readonly name: string
  readonly prefix: string
  readonly own: Validator
  readonly chain: Chain
  /** Its scenario as a timeline. */
  readonly timeline: Timeline
  readonly heights: Heights
}

/** A simulated node: its state and outputs as a function of its scenario and of the time. */
export interface SimulatedNode extends NodeSubject {
  readonly journal: Journal
  now(): number
  condition(): Condition
}
