import { own } from '../../domain/node-source.ts'
import type { LogPatternRow } from './pattern.ts'

const RPC = 'monad-bft/monad-rpc/src'
const ARCHIVE = 'monad-bft/monad-archive/src'

/** The RPC program. */
export const rpc: readonly LogPatternRow[] = [
  {
    name: 'rpc_consensus_gone',
    services: ['rpc'],
    text: '(?:TxPoolBridge (?:txpool ipc client|tx receiver disconnected|IPC (?:flush|feed) failed|SocketWatcher (?:died|error)|received different socket|failed to reconnect)|socket watcher (?:parent directory deleted|detected socket file moved)|txpool bridge not responding)',
    sources: [
      ...own(`${RPC}/txpool/mod.rs`, 'run', 'try_create_ipc_client'),
      ...own(`${RPC}/txpool/socket.rs`, 'poll_next'),
      ...own(`${RPC}/handlers/eth/txn.rs`, 'submit_to_txpool'),
    ],
    severity: 'warning',
    meaning: 'The RPC has lost its connection to consensus: it accepts no transactions.',
    advice:
      'Check that consensus runs and is live. The RPC connects again by itself when consensus creates its socket. If consensus is live and the line continues, restart the RPC alone.',
  },
  {
    name: 'rpc_waiting',
    services: ['rpc'],
    text: 'Waiting for statesync to complete',
    sources: own(`${RPC}/main.rs`, 'main'),
    severity: 'info',
    meaning: 'The RPC waits at its start until consensus is live, and does not listen on its port yet.',
    advice: 'No action needed for the RPC: see why consensus is not live, `chain-agent status chain`.',
  },
  {
    name: 'rpc_events_lost',
    services: ['rpc'],
    text: '(?:event server (?:closed|channel lagged)|EventServer .{0,60}?gapped|ws handler (?:detected event server close|lagging)|logs stream block number|Closing websocket connection with internal server error)',
    sources: [
      ...own(`${RPC}/main.rs`, 'main'),
      ...own(`${RPC}/event/server.rs`, 'run'),
      ...own(`${RPC}/websocket/handler.rs`, 'handler', 'ws_handler'),
      ...own(`${RPC}/data/mod.rs`, 'try_collect_logs_stream_with_heuristic_response_limit'),
    ],
    severity: 'warning',
    meaning: 'The RPC has missed events of execution: subscriptions of clients have gaps.',
    advice: 'Check that execution runs and the load of the host. Clients have to subscribe again.',
  },
  {
    name: 'rpc_archive_failed',
    services: ['rpc'],
    text: String.raw`(?:Archive [Ee]rror|Unable to initialize \S+ archive reader|Recreating S3 client|Failed to (?:build put request|create index|insert logs)|Error (?:getting block number by hash|checking dry run get logs index)|Index and non-index logs are not identical)`,
    sources: [
      ...own(`${RPC}/types/jsonrpc.rs`, 'archive_to_jsonrpc_error', 'from'),
      ...own(`${RPC}/main.rs`, 'main'),
      ...own(`${RPC}/data/mod.rs`, 'get_logs', 'check_dry_run_get_logs_index'),
      ...own(`${ARCHIVE}/kvstore/s3.rs`, 'maybe_recreate_client'),
      ...own(`${ARCHIVE}/kvstore/dynamodb.rs`, 'bulk_put', 'put'),
      ...own(`${ARCHIVE}/model/logs_index.rs`, 'from_tx_index_archiver', 'index_block'),
    ],
    severity: 'warning',
    meaning: 'Old blocks and logs cannot be read from the archive: the RPC answers such requests with errors.',
    advice: "Check the archive's address and credentials in the RPC's options, and the network.",
  },
  {
    name: 'rpc_overloaded',
    services: ['rpc'],
    text: '(?:txpool overloaded|EthCallHandler acquire rate_limiter closed)',
    sources: [
      ...own(`${RPC}/handlers/eth/txn.rs`, 'submit_to_txpool'),
      ...own(`${RPC}/data/eth_call_handler.rs`, 'acquire'),
    ],
    severity: 'warning',
    alert: 'ChainLogTrouble.others',
    meaning: 'The RPC rejects requests because it gets too many.',
    advice: 'Limit the clients in front of the RPC, or add an RPC node.',
  },
  {
    name: 'rpc_without_pool',
    services: ['rpc'],
    text: '--ipc-path is not set, tx pool will be disabled',
    sources: own(`${RPC}/main.rs`, 'main'),
    severity: 'warning',
    meaning: 'The RPC runs without a connection to consensus: it accepts no transactions.',
    advice: 'Set `--ipc-path` in its unit if it should accept transactions.',
  },
]
