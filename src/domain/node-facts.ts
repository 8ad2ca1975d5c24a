import type { SampleIndex } from '../core/metric.ts'
import type { NodeSource } from './node-source.ts'

/** A number of the node's source on which an advice, a rule or a check relies. */
export interface NodeFact {
  readonly value: number
  /** `statesync_threshold`: the value is a factor, to be multiplied by that setting. */
  readonly unit:
    | 'blocks'
    | 'rounds'
    | 'ms'
    | 's'
    | 'min'
    | 'prefixes'
    | 'statesync_threshold'
    | 'delta'
    | 'bytes'
    | 'chunks'
    | 'used'
  readonly states: string
  readonly source: NodeSource
  /** A line of that function has this identifier, by default the name of the function, and the words of `written`. */
  readonly identifier?: string
  /** The numbers and identifiers of the value, by default its digits. */
  readonly written?: readonly string[]
}

const own = (file: string, name: string): NodeSource => ({ file, function: name, cause: 'own' })

const MAIN = 'monad-bft/monad-node/src/main.rs'
const REVISION = 'monad-bft/monad-chain-config/src/revision.rs'
const CLEANUP = 'monad-bft/debian/opt/monad/scripts/clear-old-artifacts.sh'
const PROGRESS = 'monad-bft/monad-statesync-executor/src/client/progress.rs'

/** Limits of the node, from its source. docs/reference/node-documentation.md is generated from them. */
export const NODE_FACTS = {
  statesyncThreshold: {
    value: 600,
    unit: 'blocks',
    states:
      '`statesync_threshold` in node.toml has no default in the code; the configuration that comes with the source has this value.',
    source: own('monad-bft/docker/devnet/monad/config/node.toml', 'statesync_threshold'),
  },
  statesyncToLive: {
    value: 1,
    unit: 'statesync_threshold',
    states: 'While it syncs, consensus takes a new target when the finalized block is more than this beyond its root.',
    source: own(MAIN, 'run'),
    identifier: 'statesync_to_live_threshold',
    written: ['statesync_threshold'],
  },
  liveToStatesync: {
    value: 1.5,
    unit: 'statesync_threshold',
    states: 'Live consensus panics when its highest certificate is this far, or farther, beyond its root.',
    source: own(MAIN, 'run'),
    identifier: 'live_to_statesync_threshold',
    written: ['statesync_threshold', '3', '2'],
  },
  remoteForkpoint: {
    value: 1,
    unit: 'statesync_threshold',
    states:
      'At its start consensus replaces the local forkpoint by the remote one if that is more than this number of rounds newer; both URLs must be set.',
    source: own('monad-bft/monad-node/src/state.rs', 'setup'),
    identifier: 'Round',
    written: ['statesync_threshold'],
  },
  blocksyncRequestHeaders: {
    value: 800,
    unit: 'blocks',
    states: 'A request for more headers is refused by every peer; consensus requests its whole gap at once.',
    source: {
      file: 'monad-bft/monad-blocksync/src/messages/message.rs',
      function: 'BLOCKSYNC_MAX_NUM_HEADERS',
      cause: 'received',
    },
  },
  ledgerCachedBlocks: {
    value: 1000,
    unit: 'blocks',
    states: 'Peers serve the blocks of their cache; once it is full they refuse older ones, although the files exist.',
    source: { file: 'monad-bft/monad-ledger/src/lib.rs', function: 'new', cause: 'received' },
    identifier: 'block_cache_size',
  },
  executionDelay: {
    value: 3,
    unit: 'blocks',
    states:
      'A block has the result of the block this number before it; a node without that result does not vote for it.',
    source: own(MAIN, 'EXECUTION_DELAY'),
  },
  rootBlocks: {
    value: 2,
    unit: 'blocks',
    states: 'At its start consensus needs its root and the blocks before it: the execution delay times this.',
    source: own('monad-bft/monad-state/src/statesync.rs', 'new'),
    identifier: 'min_num_blocks',
    written: ['execution_delay', '2'],
  },
  snapshotAdvised: {
    value: 30_000,
    unit: 'blocks',
    states:
      'At the start of a statesync the log advises to restore a snapshot first if the local tip is older than this.',
    source: own('monad-bft/monad-state/src/lib.rs', 'STATESYNC_BLOCK_THRESHOLD'),
  },
  statesyncPrefixes: {
    value: 256,
    unit: 'prefixes',
    states: 'The progress of statesync is the mean over this number of prefixes.',
    source: own(PROGRESS, 'NUM_PREFIXES'),
  },
  statesyncServersSince: {
    value: 10_000,
    unit: 'blocks',
    states: 'The estimate of the progress assumes that the serving nodes have been up for this number of blocks.',
    source: own(PROGRESS, 'update_target'),
    identifier: 'min_until_guess',
  },
  latestRevision: {
    value: 300,
    unit: 'ms',
    states: 'Vote pace of the newest revision of the chain.',
    source: own(REVISION, 'CHAIN_PARAMS_LATEST'),
    written: ['CHAIN_PARAMS_V_0_12_0'],
  },
  votePace: {
    value: 300,
    unit: 'ms',
    states: 'Time between two votes; a block cannot come faster.',
    source: own(REVISION, 'CHAIN_PARAMS_V_0_12_0'),
    identifier: 'vote_pace',
  },
  delta: {
    value: 100,
    unit: 'ms',
    states: 'The bound of the network delay that consensus is configured with.',
    source: own(MAIN, 'run'),
    identifier: 'delta',
  },
  timestampDeltas: {
    value: 5,
    unit: 'delta',
    states:
      'A receiver does not vote for a block whose timestamp differs from its own clock by more than this plus the vote pace (800 ms).',
    source: { file: 'monad-bft/monad-state/src/lib.rs', function: 'build', cause: 'received' },
    identifier: 'delta',
  },
  diskPage: {
    value: 512,
    unit: 'bytes',
    states:
      'The database addresses its device in pages of this size, and discards at their bounds: 2 to the power of DISK_PAGE_BITS.',
    source: own('monad/category/async/config.hpp', 'DISK_PAGE_BITS'),
    written: ['9'],
  },
  minimumHistory: {
    value: 300,
    unit: 'blocks',
    states: 'Execution does not shorten the history of the database below this.',
    source: own('monad/category/mpt/util.hpp', 'MIN_HISTORY_LENGTH'),
  },
  compactionStart: {
    value: 0.8,
    unit: 'used',
    states: 'Execution shortens the history of the database while more of its chunks than this ratio are in use.',
    source: own('monad/category/mpt/update_aux.cpp', 'adjust_history_length_based_on_disk_usage'),
    identifier: 'upper_bound',
  },
  sessionTimeout: {
    value: 10,
    unit: 's',
    states: 'A session of the authenticated transport ends after this time without a packet.',
    source: { file: 'monad-bft/monad-wireauth/src/config/mod.rs', function: 'default', cause: 'received' },
    identifier: 'session_timeout',
  },
  ledgerRetention: {
    value: 600,
    unit: 'min',
    states: 'The clean-up deletes headers and bodies of the ledger that are older.',
    source: own(CLEANUP, 'RETENTION_LEDGER'),
  },
  forkpointRetention: {
    value: 300,
    unit: 'min',
    states: 'The clean-up deletes earlier forkpoint files that are older.',
    source: own(CLEANUP, 'RETENTION_FORKPOINT'),
  },
  walChunks: {
    value: 8,
    unit: 'chunks',
    states: 'Chunks of the write-ahead log that are kept by default; 0 turns it off. The node never reads it.',
    source: own('monad-bft/monad-node/src/cli.rs', 'DEFAULT_WAL_CHUNKS'),
  },
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
