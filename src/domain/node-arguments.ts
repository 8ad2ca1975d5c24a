/** What the value of an option looks like; `secret` is never shown, `flag` has none. */
export type ArgumentKind = 'path' | 'number' | 'word' | 'ip' | 'url' | 'flag' | 'secret'

/** The kinds of options by name. */
export type KnownArguments = ReadonlyMap<string, ArgumentKind>

/** Names, separated by spaces, by kind. */
const byKind = (...rows: readonly (readonly [kind: ArgumentKind, names: string])[]): KnownArguments =>
  new Map(rows.flatMap(([kind, names]) => names.split(' ').map((name): [string, ArgumentKind] => [name, kind])))

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
export const NODE_ARGUMENTS: Readonly<Record<string, KnownArguments>> = {
  bft: byKind(
    ['path', 'secp-identity bls-identity node-config forkpoint-config validators-path'],
    ['path', 'persisted-peers-path devnet-chain-config-override wal-path ledger-path mempool-ipc-path'],
    ['path', 'control-panel-ipc-path statesync-ipc-path triedb-path manytrace-socket'],
    ['secret', 'keystore-password'],
    ['number', 'wal-chunks wal-chunk-size-bytes statesync-sq-thread-cpu record-metrics-interval-seconds'],
    ['url', 'otel-endpoint'],
    ['ip', 'pprof'],
  ),
  execution: byKind(
    ['word', 'chain log-level'],
    ['path', 'db block-db statesync snapshot dump-snapshot chain-rlp exec-event-ring'],
    ['number', 'sq-thread-cpu ro-sq-thread-cpu nblocks nthreads nfibers block-db-timeout'],
    ['flag', 'disable-sq-thread-cpu no-compaction trace-calls as-eth-blocks'],
  ),
  rpc: byKind(
    ['path', 'ipc-path triedb-path node-config exec-event-path'],
    ['ip', 'rpc-addr pprof'],
    ['number', 'rpc-port worker-threads ws-port ws-conn-limit batch-request-limit max-request-size'],
    ['number', 'max-response-size eth-get-logs-max-block-range eth-call-executor-threads'],
    ['number', 'eth-call-max-concurrent-requests eth-call-provider-gas-limit'],
    ['url', 'otel-endpoint'],
    ['flag', 'allow-unprotected-txs ws-enabled enable-eth-simulate-v1'],
    ['secret', 'archive-url archive-api-key mongo-url rpc-comparison-endpoint'],
  ),
}
