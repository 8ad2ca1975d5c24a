/** What the value of an option looks like; `secret` is never shown, `flag` has none. */
export type ArgumentKind = 'path' | 'number' | 'word' | 'ip' | 'url' | 'flag' | 'secret'

export interface KnownArgument {
  readonly kind: ArgumentKind
  readonly meaning: string
}

type Row = readonly [kind: ArgumentKind, meaning: string]

const table = (rows: Readonly<Record<string, Row>>): ReadonlyMap<string, KnownArgument> =>
  new Map(Object.entries(rows).map(([name, [kind, meaning]]) => [name, { kind, meaning }]))

/**
 * Options of execution with which a node fails: it reads blocks in a format that consensus does not write, exits after
 * these blocks, fills its device, or refuses a database that is not empty. Source: monad, cmd/monad/main.cpp (main), and
 * runloop_monad_ethblocks.cpp (get_block_with_retry). The override of a devnet is ignored elsewhere: monad-bft,
 * monad-chain-config/src/lib.rs (MonadChainConfig::new).
 */
export const FAILING_ARGUMENTS: ReadonlySet<string> = new Set(['as-eth-blocks', 'nblocks', 'no-compaction', 'snapshot'])

/**
 * A sidecar of validators, as fastlane-sidecar, reads transactions from a socket of its own directory: drop-ins of
 * consensus and the RPC name it in place of the socket of the package.
 */
export const SIDECAR_ARGUMENTS: ReadonlySet<string> = new Set(['mempool-ipc-path', 'ipc-path'])

/**
 * The options of the three programs that are set in units, by service. Values of other options are not shown. Names with
 * underscores are the same options: execution accepts both. Sources: monad-bft, monad-node/src/cli.rs and
 * monad-rpc/src/cli.rs (Cli); monad, cmd/monad/main.cpp (main).
 */
export const NODE_ARGUMENTS: Readonly<Record<string, ReadonlyMap<string, KnownArgument>>> = {
  bft: table({
    'secp-identity': ['path', 'keystore of the secp key'],
    'bls-identity': ['path', 'keystore of the BLS key'],
    'keystore-password': ['secret', 'password of both keystores; without it the empty one'],
    'node-config': ['path', 'node.toml'],
    'forkpoint-config': ['path', 'forkpoint with which consensus starts'],
    'validators-path': ['path', 'validator sets'],
    'persisted-peers-path': ['path', 'records of peers, kept over restarts'],
    'devnet-chain-config-override': ['path', 'other parameters of the chain, for a devnet'],
    'wal-path': ['path', 'directory of the write-ahead log'],
    'wal-chunks': ['number', 'files of the write-ahead log that are kept; 0 disables it'],
    'wal-chunk-size-bytes': ['number', 'size of a file of the write-ahead log'],
    'ledger-path': ['path', 'directory of the ledger: blocks of consensus'],
    'mempool-ipc-path': ['path', 'socket to the RPC and to a sidecar, for transactions'],
    'control-panel-ipc-path': ['path', 'socket for the commands of the debug tool'],
    'statesync-ipc-path': ['path', 'socket to execution, for a statesync'],
    'triedb-path': ['path', 'device of the database'],
    'statesync-sq-thread-cpu': ['number', 'CPU of the polling thread of io_uring; without it no polling'],
    'otel-endpoint': ['url', 'OpenTelemetry collector for metrics'],
    'record-metrics-interval-seconds': ['number', 'interval of these metrics'],
    pprof: ['ip', 'address of the profiling server; empty: none'],
    'manytrace-socket': ['path', 'socket of the tracing tool'],
  }),
  execution: table({
    chain: ['word', 'chain that is executed'],
    db: ['path', 'device of the database'],
    'block-db': ['path', 'directory of the ledger'],
    statesync: ['path', 'socket to consensus, for a statesync'],
    snapshot: ['path', 'snapshot with which the database is filled'],
    'dump-snapshot': ['path', 'directory for the state at the end of the run'],
    'sq-thread-cpu': ['number', 'CPU of the polling thread of io_uring'],
    'ro-sq-thread-cpu': ['number', 'the same, of the database that is read'],
    'disable-sq-thread-cpu': ['flag', 'no polling thread'],
    'log-level': ['word', 'level of the log'],
    nblocks: ['number', 'blocks to execute, then exit'],
    nthreads: ['number', 'threads that execute transactions'],
    nfibers: ['number', 'fibers that execute transactions'],
    'no-compaction': ['flag', 'no compaction: the database grows until its device is full'],
    'trace-calls': ['flag', 'call traces'],
    'as-eth-blocks': ['flag', 'reads blocks in the Ethereum format'],
    'block-db-timeout': ['number', 'seconds that it waits for such a block'],
    'chain-rlp': ['path', 'file of a chain in RLP'],
    'exec-event-ring': ['path', 'ring buffer of execution events'],
  }),
  rpc: table({
    'ipc-path': ['path', 'socket to consensus, for transactions'],
    'triedb-path': ['path', 'device of the database'],
    'node-config': ['path', 'node.toml'],
    'rpc-addr': ['ip', 'address that it listens on'],
    'rpc-port': ['number', 'port that it listens on'],
    'otel-endpoint': ['url', 'OpenTelemetry collector for metrics'],
    'allow-unprotected-txs': ['flag', 'accepts transactions without a chain ID (before EIP-155)'],
    'worker-threads': ['number', 'threads that answer requests'],
    'ws-enabled': ['flag', 'WebSocket server'],
    'ws-port': ['number', 'its port'],
    'ws-conn-limit': ['number', 'its connections at most'],
    'batch-request-limit': ['number', 'requests in a batch at most'],
    'max-request-size': ['number', 'bytes of a request at most'],
    'max-response-size': ['number', 'bytes of a response at most'],
    'eth-get-logs-max-block-range': ['number', 'blocks of one eth_getLogs at most'],
    'eth-call-executor-threads': ['number', 'threads for eth_call'],
    'eth-call-max-concurrent-requests': ['number', 'concurrent eth_call at most'],
    'eth-call-provider-gas-limit': ['number', 'gas of one eth_call at most'],
    'enable-eth-simulate-v1': ['flag', 'method eth_simulateV1'],
    'exec-event-path': ['path', 'ring buffer of execution events'],
    'archive-url': ['secret', 'archive for old blocks'],
    'archive-api-key': ['secret', 'its API key'],
    'mongo-url': ['secret', 'MongoDB for old blocks'],
    'rpc-comparison-endpoint': ['secret', 'other RPC to compare with'],
    pprof: ['ip', 'address of the profiling server; empty: none'],
  }),
}
