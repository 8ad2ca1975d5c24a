import type { LogPattern } from './pattern.ts'

/** The RPC program. */
export const rpc: readonly LogPattern[] = [
  {
    name: 'rpc_consensus_gone',
    services: ['rpc'],
    text: '(?:TxPoolBridge (?:txpool ipc client|tx receiver disconnected|IPC (?:flush|feed) failed|SocketWatcher (?:died|error)|received different socket|failed to reconnect)|socket watcher (?:parent directory deleted|detected socket file moved)|txpool bridge not responding)',
    severity: 'warning',
    meaning: 'The RPC has lost its connection to consensus: it accepts no transactions.',
    advice: 'Check that consensus runs. If it does, restart the RPC alone.',
  },
  {
    name: 'rpc_events_lost',
    services: ['rpc'],
    text: '(?:event server (?:closed|channel lagged)|EventServer .{0,60}?gapped|ws handler (?:detected event server close|lagging)|logs stream block number|Closing websocket connection with internal server error)',
    severity: 'warning',
    meaning: 'The RPC has missed events of execution: subscriptions of clients have gaps.',
    advice: 'Check that execution runs and the load of the host. Clients have to subscribe again.',
  },
  {
    name: 'rpc_archive_failed',
    services: ['rpc'],
    text: String.raw`(?:Archive [Ee]rror|Unable to initialize \S+ archive reader|Recreating S3 client|Failed to (?:build put request|create index|insert logs)|Error (?:getting block number by hash|checking dry run get logs index)|Index and non-index logs are not identical)`,
    severity: 'warning',
    meaning: 'Old blocks and logs cannot be read from the archive: the RPC answers such requests with errors.',
    advice: "Check the archive's address and credentials in the RPC's options, and the network.",
  },
  {
    name: 'rpc_overloaded',
    services: ['rpc'],
    text: '(?:txpool overloaded|EthCallHandler acquire rate_limiter closed)',
    severity: 'warning',
    meaning: 'The RPC rejects requests because it gets too many.',
    advice: 'Limit the clients in front of the RPC, or add an RPC node.',
  },
  {
    name: 'rpc_without_pool',
    services: ['rpc'],
    text: '--ipc-path is not set, tx pool will be disabled',
    severity: 'warning',
    meaning: 'The RPC runs without a connection to consensus: it accepts no transactions.',
    advice: 'Set `--ipc-path` in its unit if it should accept transactions.',
  },
]
