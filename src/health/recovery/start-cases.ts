import { blocksOf, NODE_FACTS } from '../../domain/node-facts.ts'

/** What consensus finds at its start. */
export interface StartConditions {
  /** `statesync_threshold` in its configuration. */
  readonly threshold: number
  /** Whether forkpoint and validators file exist on the host and can be parsed. */
  readonly hasLocalFiles: boolean
  /** Whether both REMOTE_…_URL variables are set, and both files can be downloaded and parsed. */
  readonly hasRemoteFiles: boolean
  /** Blocks that it can be behind and still catch up by blocksync. */
  readonly window: number
  /** Rounds by which the remote forkpoint is newer than the local one; without that, than the database. */
  readonly remoteIsNewerBy: number
  /** Whether the remote validators file has every epoch of the remote forkpoint. */
  readonly hasRemoteSets: boolean
  /** Whether the forkpoint that is used agrees with the validators file next to it. */
  readonly areFilesConsistent: boolean
  /** Whether the blocks of the root are in the ledger of this node, or peers serve them. */
  readonly hasRootBlocks: boolean
  /** The state of the database: whether it has executed what the root of the local forkpoint needs. */
  readonly database: 'has root' | 'behind root' | 'far behind root' | 'empty'
  /** Whether the root is the genesis block. */
  readonly isGenesis: boolean
  /** Blocks from the root of the local forkpoint to the head of the network. */
  readonly behind: number
}

/** Forkpoint and validators file that consensus starts from. */
type Files = 'local' | 'remote'

/** What becomes of the start. */
export type StartResult =
  /** Consensus ends before it connects to peers. */
  | 'exits'
  | 'panics'
  /** It logs "still syncing..." until a peer serves the blocks. */
  | 'waits for blocks'
  | 'statesyncs'
  /** It is live, and peers reject its request for the missing blocks. */
  | 'stalls'
  | 'catches up'

interface StartCase {
  readonly when: (conditions: StartConditions) => boolean
}

const isRemoteNewer = ({ threshold, remoteIsNewerBy }: StartConditions): boolean =>
  remoteIsNewerBy > blocksOf(NODE_FACTS.remoteForkpoint, threshold)

/**
 * Which files are used; the first case that applies. Null: none, so consensus exits. Source: monad-bft,
 * monad-node/src/state.rs (get_latest_configs). A comment is a part of the log line that shows the case.
 */
export const FILE_CASES: readonly (StartCase & { readonly uses: Files | null })[] = [
  // failed to fetch local and remote configs
  { when: ({ hasLocalFiles, hasRemoteFiles }) => !hasLocalFiles && !hasRemoteFiles, uses: null },
  // failed to fetch local configs, using remote forkpoint and validators config
  { when: ({ hasLocalFiles }) => !hasLocalFiles, uses: 'remote' },
  // failed to fetch remote configs, using local forkpoint and validators config
  { when: ({ hasRemoteFiles }) => !hasRemoteFiles, uses: 'local' },
  // remote validators config missing validator set for remote forkpoint
  { when: (conditions) => isRemoteNewer(conditions) && !conditions.hasRemoteSets, uses: 'local' },
  // using remote configs
  { when: isRemoteNewer, uses: 'remote' },
  // using local configs
  { when: () => true, uses: 'local' },
]

/**
 * What follows from the files; the first case that applies. `behind` and `database` are those of the files in use. Source:
 * monad-bft, the function that a comment names, with a part of the log line, or the effect, that shows the case.
 */
export const ROOT_CASES: readonly (StartCase & { readonly result: StartResult })[] = [
  // monad-state/src/lib.rs, build: a failed assertion about the forkpoint
  { when: ({ areFilesConsistent }) => !areFilesConsistent, result: 'panics' },
  // monad-state/src/lib.rs, maybe_start_consensus: still syncing...
  { when: ({ isGenesis, hasRootBlocks }) => !isGenesis && !hasRootBlocks, result: 'waits for blocks' },
  // The same: is DB state empty? use execution to populate genesis if so
  { when: ({ isGenesis, database }) => isGenesis && database === 'empty', result: 'panics' },
  // The same: starting from empty state, consider fetching a snapshot first
  { when: ({ database }) => database === 'empty', result: 'statesyncs' },
  // The same: consider restoring from snapshot first
  { when: ({ database }) => database === 'far behind root', result: 'statesyncs' },
  // The same: the metric statesync_last_target above 0
  { when: ({ database }) => database === 'behind root', result: 'statesyncs' },
  // The database has the root: consensus is live within milliseconds, and the next proposals show how far behind it is.
  // monad-consensus-state/src/lib.rs, maybe_statesync: high qc too far ahead of block tree root
  { when: ({ threshold, behind }) => behind >= blocksOf(NODE_FACTS.liveToStatesync, threshold), result: 'panics' },
  // monad-ledger/src/lib.rs, ledger_fetch_headers: headers response not available, again and again
  { when: ({ window, behind }) => behind > window, result: 'stalls' },
  // monad-blocktree/src/blocktree.rs, maybe_fill_path_to_root: done syncing, initializing consensus
  { when: () => true, result: 'catches up' },
]

interface StartOutcome {
  readonly uses: Files | null
  readonly result: StartResult
}

const firstOf = <C extends StartCase>(cases: readonly C[], conditions: StartConditions): C => {
  const found = cases.find(({ when }) => when(conditions))
  if (!found) throw new Error('the last case applies always')
  return found
}

/** What the node would do if it was started under these conditions. */
export const startOutcome = (conditions: StartConditions): StartOutcome => {
  const { uses } = firstOf(FILE_CASES, conditions)
  if (uses === null) return { uses, result: 'exits' }
  // A new root is near the head of the network: what the database has is behind it.
  const isMoved = uses === 'remote' && conditions.remoteIsNewerBy > 0
  const { database } = conditions
  const used = isMoved
    ? { ...conditions, behind: 0, database: database === 'has root' ? ('behind root' as const) : database }
    : conditions
  return { uses, result: firstOf(ROOT_CASES, used).result }
}
