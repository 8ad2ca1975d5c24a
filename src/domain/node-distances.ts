import type { SampleIndex } from '../core/metric.ts'
import { blocksOf, NODE_FACTS } from './node-facts.ts'

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
