import { blocksOf, NODE_FACTS } from '../../domain/node-facts.ts'
import type { NodeSource } from '../../domain/node-source.ts'

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
  readonly source: NodeSource
  readonly when: (conditions: StartConditions) => boolean
  /** A part of the log line, or the effect, that shows the case. */
  readonly shows: string
}

const at = (file: string, name: string): NodeSource => ({ file: `monad-bft/${file}`, function: name, cause: 'own' })

const CONFIGS = at('monad-node/src/state.rs', 'get_latest_configs')
const BUILD = at('monad-state/src/lib.rs', 'build')
const START = at('monad-state/src/lib.rs', 'maybe_start_consensus')
const LIVE = at('monad-consensus-state/src/lib.rs', 'maybe_statesync')
const PATH = at('monad-blocktree/src/blocktree.rs', 'maybe_fill_path_to_root')
const SERVED = at('monad-ledger/src/lib.rs', 'ledger_fetch_headers')

const isRemoteNewer = ({ threshold, remoteIsNewerBy }: StartConditions): boolean =>
  remoteIsNewerBy > blocksOf(NODE_FACTS.remoteForkpoint, threshold)

/** Which files are used; the first case that applies. Null: none, so consensus exits. */
export const FILE_CASES: readonly (StartCase & { readonly uses: Files | null })[] = [
  {
    source: CONFIGS,
    when: ({ hasLocalFiles, hasRemoteFiles }) => !hasLocalFiles && !hasRemoteFiles,
    uses: null,
    shows: 'failed to fetch local and remote configs',
  },
  {
    source: CONFIGS,
    when: ({ hasLocalFiles }) => !hasLocalFiles,
    uses: 'remote',
    shows: 'failed to fetch local configs, using remote forkpoint and validators config',
  },
  {
    source: CONFIGS,
    when: ({ hasRemoteFiles }) => !hasRemoteFiles,
    uses: 'local',
    shows: 'failed to fetch remote configs, using local forkpoint and validators config',
  },
  {
    source: CONFIGS,
    when: (conditions) => isRemoteNewer(conditions) && !conditions.hasRemoteSets,
    uses: 'local',
    shows: 'remote validators config missing validator set for remote forkpoint',
  },
  {
    source: CONFIGS,
    when: isRemoteNewer,
    uses: 'remote',
    shows: 'using remote configs',
  },
  {
    source: CONFIGS,
    when: () => true,
    uses: 'local',
    shows: 'using local configs',
  },
]

/** What follows from the files; the first case that applies. `behind` and `database` are those of the files in use. */
export const ROOT_CASES: readonly (StartCase & { readonly result: StartResult })[] = [
  {
    source: BUILD,
    when: ({ areFilesConsistent }) => !areFilesConsistent,
    result: 'panics',
    shows: 'a failed assertion about the forkpoint',
  },
  {
    source: START,
    when: ({ isGenesis, hasRootBlocks }) => !isGenesis && !hasRootBlocks,
    result: 'waits for blocks',
    shows: 'still syncing...',
  },
  {
    source: START,
    when: ({ isGenesis, database }) => isGenesis && database === 'empty',
    result: 'panics',
    shows: 'is DB state empty? use execution to populate genesis if so',
  },
  {
    source: START,
    when: ({ database }) => database === 'empty',
    result: 'statesyncs',
    shows: 'starting from empty state, consider fetching a snapshot first',
  },
  {
    source: START,
    when: ({ database }) => database === 'far behind root',
    result: 'statesyncs',
    shows: 'consider restoring from snapshot first',
  },
  {
    source: START,
    when: ({ database }) => database === 'behind root',
    result: 'statesyncs',
    shows: 'the metric statesync_last_target above 0',
  },
  // The database has the root: consensus is live within milliseconds, and the next proposals show how far behind it is.
  {
    source: LIVE,
    when: ({ threshold, behind }) => behind >= blocksOf(NODE_FACTS.liveToStatesync, threshold),
    result: 'panics',
    shows: 'high qc too far ahead of block tree root',
  },
  {
    source: SERVED,
    when: ({ window, behind }) => behind > window,
    result: 'stalls',
    shows: 'headers response not available, again and again',
  },
  {
    source: PATH,
    when: () => true,
    result: 'catches up',
    shows: 'done syncing, initializing consensus',
  },
]

interface StartOutcome {
  readonly uses: Files | null
  readonly result: StartResult
  /** The case that decides about the result. */
  readonly source: NodeSource
  readonly shows: string
}

const firstOf = <C extends StartCase>(cases: readonly C[], conditions: StartConditions): C => {
  const found = cases.find(({ when }) => when(conditions))
  if (!found) throw new Error('the last case applies always')
  return found
}

/** What the node would do if it was started under these conditions. */
export const startOutcome = (conditions: StartConditions): StartOutcome => {
  const { uses, ...files } = firstOf(FILE_CASES, conditions)
  if (uses === null) return { uses, result: 'exits', source: files.source, shows: files.shows }
  // A new root is near the head of the network: what the database has is behind it.
  const isMoved = uses === 'remote' && conditions.remoteIsNewerBy > 0
  const { database } = conditions
  const used = isMoved
    ? { ...conditions, behind: 0, database: database === 'has root' ? ('behind root' as const) : database }
    : conditions
  const { result, source, shows } = firstOf(ROOT_CASES, used)
  return { uses, result, source, shows }
}
