import type { LogPatternRow } from './pattern.ts'

/** `PROGRAM: FILE:LINE: FUNCTION: NAME assert throw '…' failed: '…'`: what the main function prints of an exception that reached it. */
export const UNCAUGHT = String.raw`\S{1,80}: \S{1,300}:\d{1,9}: .{1,400}?: \w{1,30} assert throw '`

/** Crashes of any program, which all end it. A panic in any thread of a Rust program ends it: `panic = "abort"` in monad-bft/Cargo.toml. */
const CRASHES: readonly LogPatternRow[] = [
  {
    name: 'assertion',
    services: ['any'],
    text: "(?:.*: )?Assertion [`'].*' failed",
    isBare: true,
    reasonOnNextLine: true,
    meaning: 'An assertion failed, and the program ended with SIGABRT.',
    advice:
      'Keep the log. If another pattern names the reason, follow that one. If the text names the database or the kernel, check those. If consensus was started alone, start it and execution together.',
  },
  {
    name: 'abort',
    services: ['any'],
    text: '(?:.*: )?[A-Z]+_ABORT called',
    isBare: true,
    reasonOnNextLine: true,
    meaning: 'The program could not continue and ended with SIGABRT.',
    advice: 'Read the reason in the log and follow it.',
  },
  {
    name: 'panic',
    services: ['any'],
    text: String.raw`thread '.{0,80}?'(?: \(\d+\))? panicked at `,
    isBare: true,
    reasonOnNextLine: true,
    meaning: 'A Rust program could not continue and ended with SIGABRT.',
    advice: 'Read the reason, then start consensus and execution together.',
  },
  {
    name: 'fatal',
    services: ['any'],
    text: String.raw`(?:terminate called |pure virtual method called|Terminated unexpectedly because of signal|memory allocation of \d+ bytes failed|.{0,160}?std::bad_alloc|thread '.{0,80}?'(?: \(\d+\))? has overflowed its stack|fatal runtime error: )`,
    meaning:
      'The program ran out of memory or of its stack, or ended with an uncaught exception or by a signal such as a segmentation fault.',
    advice:
      "Check the host's memory and huge pages and what else uses them, then start consensus and execution together. If the line names another exception or a signal, keep the log.",
  },
  {
    name: 'memory_corrupted',
    services: ['any'],
    text: String.raw`(?:\*\*\* .{1,80} detected \*\*\*|double free or corruption|corrupted (?:size vs\. prev_size|double-linked list)|(?:free|malloc|malloc_consolidate|realloc|munmap_chunk)\(\): |Fatal glibc error: )`,
    isBare: true,
    meaning: 'The C library found the memory of the program damaged, and ended it with SIGABRT.',
    advice:
      "Keep the log for the developers of the node. Check the host's memory for errors: `journalctl -k | grep -iE 'mce|edac|hardware error'`. Then start consensus and execution together.",
  },
  {
    name: 'high_qc_too_far',
    // Before Rust 1.73 the reason of a panic is on its first line, and in a paste that lost its line breaks.
    text: String.raw`(?:thread '.{0,80}? panicked at (?:'|\S{1,160}:\d+: ?))?high qc too far ahead of block tree root`,
    isBare: true,
    meaning:
      'The network is 3/2 of `statesync_threshold` or more ahead of the last committed block (900 blocks by default), the distance at which a running consensus ends itself.',
    advice:
      'A start with the local forkpoint alone ends the same way. Set both URLs of forkpoint and validators file, or copy both files from another node, and start the services together: `chain-agent recover`. If the node is more than 30,000 blocks behind, follow the hard reset first.',
    documents: ['soft-reset', 'statesync-threshold', 'hard-reset'],
  },
  {
    name: 'consensus_crashed',
    text: '(?:[^" ]+ )?consensus node crashed',
    meaning:
      'Consensus ended with an error that is no panic, and with exit code 0: systemd reports a clean stop and does not restart it.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'parent_executor_gone',
    text: 'parent executor returned none!',
    meaning: 'A component that consensus needs has ended, so consensus ends too.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'exception',
    services: ['execution'],
    text: String.raw`(?:(?:.{0,80}?[\s:])?[A-Z][A-Za-z]*Exception: |${UNCAUGHT})`,
    meaning: 'An exception reached the main function of execution, which ended with exit code 1.',
    advice: 'Keep the log and read the reason. Then start consensus and execution together.',
  },
]
export const crashes = CRASHES.map((row): LogPatternRow => ({
  ...row,
  endsProcess: true,
  alert: 'ChainLogTrouble.aborted',
}))

/** Execution of blocks. */
const EXECUTION: readonly LogPatternRow[] = [
  {
    name: 'block_failed',
    text: String.raw`block\s*\d+ failed with: `,
    endsProcess: true,
    meaning: 'Execution rejected a block that consensus accepted, and ended with exit code 1.',
    advice: 'Compare the version with the one that the network requires. Keep the log. The state itself may be right.',
    documents: ['execution-result'],
  },
  {
    name: 'result_mismatch',
    text: 'Delayed execution result mismatch for block',
    endsProcess: true,
    meaning: "The execution result differs from the network's: the states have diverged, and execution aborted.",
    advice: 'Keep the log, stop the node, and upgrade it if its version is old. Then follow the hard reset.',
    documents: ['execution-result', 'hard-reset'],
  },
  {
    name: 'blocks_out_of_order',
    text: '(?:Validated blocks not increasing|Invalid epoch change: from |Called snapshot twice in epoch: )',
    endsProcess: true,
    meaning:
      'Execution got a block or an epoch that is not the next one, and ended: consensus and execution do not agree on the height.',
    advice:
      'Restart consensus and execution together. If it happens again, keep the log for the developers of the node.',
  },
  {
    name: 'consensus_disconnected',
    text: '(?:socket error event|connection closed), reconnecting',
    severity: 'info',
    meaning: 'Consensus closed its socket while execution runs: consensus was stopped, restarted or has ended.',
    advice:
      'No action needed if the services were stopped together. If consensus alone was restarted, restart both together at a convenient time: `chain-agent recover`.',
  },
]
export const execution = EXECUTION.map((row): LogPatternRow => ({ ...row, services: ['execution'] }))

/** The RPC program. */
const RPC_ROWS: readonly LogPatternRow[] = [
  {
    name: 'rpc_consensus_gone',
    text: '(?:TxPoolBridge (?:txpool ipc client|tx receiver disconnected|IPC (?:flush|feed) failed|SocketWatcher (?:died|error)|received different socket|failed to reconnect)|socket watcher (?:parent directory deleted|detected socket file moved)|txpool bridge not responding)',
    meaning: 'The RPC has lost its connection to consensus: it accepts no transactions.',
    advice:
      'Check that consensus runs and is live. The RPC connects again by itself when consensus creates its socket. If consensus is live and the line continues, restart the RPC alone.',
  },
  {
    name: 'rpc_waiting',
    text: 'Waiting for statesync to complete',
    severity: 'info',
    meaning: 'The RPC waits at its start until consensus is live, and does not listen on its port yet.',
    advice: 'No action needed for the RPC: see why consensus is not live, `chain-agent status chain`.',
  },
  {
    name: 'rpc_events_lost',
    text: '(?:event server (?:closed|channel lagged)|EventServer .{0,60}?gapped|ws handler (?:detected event server close|lagging)|logs stream block number|Closing websocket connection with internal server error)',
    meaning: 'The RPC has missed events of execution: subscriptions of clients have gaps.',
    advice: 'Check that execution runs and the load of the host. Clients have to subscribe again.',
  },
  {
    name: 'rpc_archive_failed',
    text: String.raw`(?:Archive [Ee]rror|Unable to initialize \S+ archive reader|Recreating S3 client|Failed to (?:build put request|create index|insert logs)|Error (?:getting block number by hash|checking dry run get logs index)|Index and non-index logs are not identical)`,
    meaning: 'Old blocks and logs cannot be read from the archive: the RPC answers such requests with errors.',
    advice: "Check the archive's address and credentials in the RPC's options, and the network.",
  },
  {
    name: 'rpc_overloaded',
    text: '(?:txpool overloaded|EthCallHandler acquire rate_limiter closed)',
    alert: 'ChainLogTrouble.others',
    meaning: 'The RPC rejects requests because it gets too many.',
    advice: 'Limit the clients in front of the RPC, or add an RPC node.',
  },
  {
    name: 'rpc_without_pool',
    text: '--ipc-path is not set, tx pool will be disabled',
    meaning: 'The RPC runs without a connection to consensus: it accepts no transactions.',
    advice: 'Set `--ipc-path` in its unit if it should accept transactions.',
  },
]
export const rpc = RPC_ROWS.map((row): LogPatternRow => ({ ...row, services: ['rpc'] }))

/** The hourly cleanup. */
const CLEANUP: readonly LogPatternRow[] = [
  {
    name: 'cleanup_skipped',
    text: 'No new files detected. Skipping',
    meaning: 'The cleanup deleted nothing, because the ledger had no new file for 20 minutes.',
    advice: 'Find out why the node is stalled. Until it advances again, watch the free space of its file system.',
  },
  {
    name: 'cleanup_completed',
    text: 'Cleanup completed successfully',
    severity: 'info',
    meaning: 'The hourly cleanup has deleted old files.',
    advice: 'No action needed. If the line is missing for two hours, check the timer.',
  },
]
export const cleanup = CLEANUP.map((row): LogPatternRow => ({ ...row, services: ['cruft'], alert: 'ChainCleanup' }))
