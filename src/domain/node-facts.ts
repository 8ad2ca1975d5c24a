import type { SampleIndex } from '../core/metric.ts'

/** A number of the node's source on which an advice, a rule or a check relies. */
export interface NodeFact {
  readonly value: number
}

/**
 * Limits of the node, from its source: scripts/compare-source/node-source.yaml has what they limit and where, and those that
 * only the documentation names. docs/reference/node-documentation.md is generated from both.
 */
export const NODE_FACTS = {
  statesyncThreshold: { value: 600 },
  liveToStatesync: { value: 1.5 },
  remoteForkpoint: { value: 1 },
  blocksyncRequestHeaders: { value: 800 },
  ledgerCachedBlocks: { value: 1000 },
  snapshotAdvised: { value: 30_000 },
  votePace: { value: 300 },
  delta: { value: 100 },
  timestampDeltas: { value: 5 },
  diskPage: { value: 512 },
  compactionStart: { value: 0.8 },
} satisfies Readonly<Record<string, NodeFact>>

/** Blocks that the setting `statesync_threshold` gives for a fact that is a factor of it. */
export const blocksOf = (factor: NodeFact, statesyncThreshold: number): number =>
  Math.floor(statesyncThreshold * factor.value)

/** Largest difference between the timestamp of a block and the clock of a node that votes for it, in milliseconds. */
export const TIMESTAMP_TOLERANCE_MS =
  NODE_FACTS.timestampDeltas.value * NODE_FACTS.delta.value + NODE_FACTS.votePace.value

/** `statesync_threshold` in the node's configuration; undefined if the agent could not read it. */
const settingOf = (known: SampleIndex): number | undefined => known.value('chain_node_statesync_threshold_blocks')

/** `statesync_threshold`, or the value of the configuration that comes with the source. */
export const statesyncThreshold = (known: SampleIndex): number =>
  settingOf(known) ?? NODE_FACTS.statesyncThreshold.value

/**
 * Blocks that a node can be behind and still catch up block by block: one request covers the whole gap, peers serve it
 * from their cache, and a live node that is too far behind panics.
 */
export const blocksyncWindowOf = (threshold: number): number =>
  Math.min(
    NODE_FACTS.blocksyncRequestHeaders.value,
    NODE_FACTS.ledgerCachedBlocks.value,
    blocksOf(NODE_FACTS.liveToStatesync, threshold),
  )

/** Size of the blocksync window in blocks, as the collector `derived` reports it, or else by the setting. */
export const blocksyncWindow = (known: SampleIndex): number =>
  known.value('chain_blocksync_window_blocks') ?? blocksyncWindowOf(statesyncThreshold(known))

/** The reservation of a distance that depends on the setting: empty if the setting is known. */
export const byDefault = (known: SampleIndex): string => (settingOf(known) === undefined ? ' by default' : '')
