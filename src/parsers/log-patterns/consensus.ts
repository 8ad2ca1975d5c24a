import type { LogPatternRow } from './pattern.ts'

/** Consensus: rounds, trace of events, statesync. Present since v0.11 unless a version is given. */
export const consensus: readonly LogPatternRow[] = [
  {
    name: 'wal_stopped',
    text: 'waltrace thread stopped',
    alert: 'ChainLogTrouble.wal-stopped',
    meaning:
      'The trace of events (`--wal-path`) is no longer written, and the line is logged for every event, about 250 times a second (v0.14.5). The node never reads the trace: only the flood of lines does harm.',
    advice:
      'Check the free space of the file system. Restart consensus and execution together at a convenient time, or set `--wal-chunks 0`, which disables the trace.',
  },
  {
    name: 'wal_push_failed',
    text: 'failed to push to wal',
    severity: 'info',
    meaning:
      'A record could not be written to the trace of events, usually because the disk is full. The node never reads the trace, but needs the disk for its ledger.',
    advice: "Check the free space of the node's file system, then its drive.",
  },
  {
    name: 'wal_not_started',
    text: 'failed to initialize wal',
    severity: 'info',
    meaning: 'The trace of events cannot be opened, so consensus writes none. The node never reads it.',
    advice: 'Check the free space and the owner of the directory in `--wal-path` at a convenient time.',
  },
  {
    name: 'wal_lagging',
    text: 'waltrace is lagging; dropping wal event',
    severity: 'info',
    meaning:
      'Records of the trace of events are dropped, because writing them takes too long. The node never reads the trace.',
    advice: 'No action needed.',
  },
  {
    name: 'slow_executor',
    text: 'long time to (?:execute commands|update event)',
    severity: 'info',
    meaning: 'One step of the main loop of consensus took more than 50 ms.',
    advice: "No action needed for single lines. If they are frequent, check the host's load and its drives.",
  },
  {
    name: 'pacing_mismatch',
    text: 'network has different vote/proposal pacing than us',
    severity: 'info',
    meaning:
      'The next vote was ready before the timer of the previous one: proposals arrived late and together, or the version has another round pace than the network.',
    advice:
      'No action needed for single lines. If every round has one, compare the version with the version of the network.',
  },
  {
    name: 'cannot_propose',
    text: "no eth_header found, can't propose",
    meaning: 'Execution was too far behind for the node to propose a block: a slot was lost.',
    advice: 'Check how long execution takes for a block, and what slows it down.',
  },
  {
    name: 'vote_not_coherent',
    text: 'not voting on proposal, is not coherent',
    severity: 'info',
    meaning:
      "The node did not vote in a round: the leader's block is wrong, or the state of this node is behind or different.",
    advice:
      "No action needed for single lines. If nearly every round has one, this validator's votes are lost: check that execution keeps up, and compare the block hash of a finalized height with other nodes.",
  },
  {
    name: 'proposal_without_parent',
    text: 'dropping proposal, no parent timestamp/block_round',
    severity: 'info',
    meaning: 'The node did not vote in a round, because it does not have the parent of the proposed block yet.',
    advice: 'No action needed for single lines. If nearly every round has one, check the network and blocksync.',
  },
  {
    name: 'result_not_coherent',
    text: 'block not coherent, (?:execution result|base_fee) mismatch',
    severity: 'info',
    meaning:
      'A received block has another execution result or base fee than this node computed. The block is checked again with every block after it, so one wrong block causes many lines.',
    advice:
      'No action needed if they come from a few leaders. If every leader has another execution result, compare the block hash of a finalized height with other nodes.',
  },
  {
    name: 'block_invalid',
    text: 'blocksynced block failed to validate',
    severity: 'info',
    meaning: 'A block that blocksync received is not valid. Blocksync does not get past it.',
    advice:
      'No action needed for a single line. If the height does not increase, compare the version with the network.',
  },
  {
    name: 'blocksync_range_refused',
    text: 'requested blocksync header range too large',
    severity: 'info',
    meaning: 'A node requested more than 800 headers at once, and this node refused.',
    advice: 'No action needed: the other node is too far behind for blocksync.',
  },
  {
    name: 'commits_lagging',
    text: "evicted round from block_cache that's higher than last_commit_round",
    meaning: 'More blocks than the ledger caches (1,000) are proposed and not committed: commits are stalled.',
    advice: 'Check execution and the height: `chain-agent status chain`.',
  },
  {
    name: 'consensus_invariant',
    text: '(?:invariant broken: round_recovery|process_(?:vote|no_endorsement) called on round|epoch start not scheduled|Validator set data is not consumed|new epoch(?:_start)? .{0,80}? (?:does not advance|is not consecutive)|txpool (?:last commit update does not match|sequencer authority nonce delta invariant))',
    meaning: 'Consensus detected an inconsistency of its own state, and continues.',
    advice: 'Keep the log for the developers. Check that its height increases: `chain-agent status chain`.',
  },
  {
    name: 'statesync_invariant',
    text: 'invariant broken: send_request called after destroy',
    isBare: true,
    meaning: 'The statesync client detected an inconsistency of its own state, and consensus ended with exit code 1.',
    advice: 'Keep the log for the developers. Start the services together: statesync starts again.',
    documents: ['statesync-client'],
  },
  {
    name: 'txpool_stopped',
    text: '(?:(?:command|forwarded) channel was dropped|failed to send event to BFT), shutting down txpool',
    severity: 'info',
    meaning: 'The transaction pool ends, because consensus itself is stopping.',
    advice: 'No action needed if consensus was stopped. Otherwise read the preceding lines.',
  },
  {
    name: 'txpool_proposal_failed',
    text: '(?:txpool executor (?:failed to create proposal|stream terminated)|txpool create_proposal called before)',
    meaning: 'The transaction pool could not build a block: a slot of this node was lost, or its block was empty.',
    advice:
      'Check that execution keeps up: `chain-agent status chain`. If every own slot has one, restart consensus and execution together at a convenient time.',
  },
  {
    name: 'txpool_preload_failed',
    text: 'txpool executor failed to preload account balances',
    severity: 'info',
    meaning:
      'The state for the next block is not available yet: execution is behind for a moment. The pool reads it later.',
    advice: 'No action needed for single lines.',
  },
  {
    name: 'snapshot_advised',
    text: String.raw`(?:local tip over \d+ blocks older than root|starting from empty state, consider fetching a snapshot)`,
    meaning:
      'At the start of a statesync the database is empty or more than 30,000 blocks older than the target: statesync takes very long.',
    advice:
      'If statesync makes little progress, stop the services together and follow the hard reset. An RPC or archive node that needs its history: see the full replay.',
    documents: ['statesync-threshold', 'hard-reset', 'node-recovery'],
  },
  {
    name: 'state_root_mismatch',
    text: "state root doesn't match, are peers trusted",
    endsProcess: true,
    meaning: "Statesync ended with another state than the network's, and consensus ended: a peer sent wrong data.",
    advice: 'Set trusted peers for statesync, then follow the hard reset: the wrong state is in the database.',
    documents: ['statesync-client', 'hard-reset'],
  },
  {
    name: 'statesync_backlogged',
    text: 'dropping (?:inbound statesync (?:request|completion), execution|outbound statesync response, consensus state) backlogged',
    severity: 'info',
    meaning: 'This node serves statesync to others and dropped one of their messages, because they send too many.',
    advice: 'No action needed: the other nodes ask again.',
  },
]
