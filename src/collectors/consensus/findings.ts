import { type ConsensusFigures, HOUR, roundsClosed, timeoutShare } from './figures.ts'
import type { Sign } from './kinds.ts'

/** Something that the analysis of the consensus log finds, and what an operator can do about it. */
export interface Finding {
  /** Its name in metrics. */
  readonly finding: string
  readonly severity: 'info' | 'warning' | 'critical'
  /** Null where the log does not tell. */
  readonly when: (reading: ConsensusFigures) => boolean | null
  readonly text: (reading: ConsensusFigures) => string
  readonly suggestion: string
}

/** Of 200 leaders one with a wrong clock leads about once a minute; more than this is our own. */
const TIMESTAMP_FAILURES = 10
/** A node that works gives up a round in fifty; the network's own target is below 3 %. */
const TIMEOUT_SHARE = 0.05
/** Below this many rounds in a minute a share says nothing. */
const ENOUGH_ROUNDS = 20

/** Whether more rounds of other leaders than usual were closed by a timeout. `own`: those of this node. */
export const hasManyTimeouts = (reading: ConsensusFigures, own: number): boolean => {
  const timedOut = Math.max(0, (reading.messages.round_timed_out ?? 0) - own)
  return timedOut > TIMEOUT_SHARE * (roundsClosed(reading) - own)
}

/** Whether something was seen so often; that it was not is only known where everything was heard. */
const saw =
  (sign: Sign, atLeast = 1): Finding['when'] =>
  ({ seen, isWhole }) =>
    seen[sign] >= atLeast || (isWhole ? false : null)

/** Every finding there is. */
export const FINDINGS: readonly Finding[] = [
  {
    finding: 'not_committing',
    severity: 'critical',
    when: ({ committing, statesyncActive }) =>
      committing === null ? null : !committing && statesyncActive !== true,
    text: () => 'No block was committed in the last 60 seconds.',
    suggestion:
      'See whether the network itself advances (chain_block_difference). If it does: look at peers, clock and disk, then restart consensus and execution together. Beyond about 600 blocks behind, a restart needs statesync.',
  },
  {
    finding: 'timeout_deadlock',
    severity: 'critical',
    when: ({ committing, messages: { local_timeout: timeouts } }) =>
      committing === null || timeouts === null ? null : !committing && timeouts > 0,
    text: ({ messages }) => `${messages.local_timeout} local timeouts, and no block committed.`,
    suggestion:
      'The node runs and hears too little to close a round. Check that its ports are reachable and that it has upstream validators; then restart consensus and execution together.',
  },
  {
    finding: 'rounds_closed_by_timeout',
    severity: 'warning',
    when: (reading) => {
      const share = timeoutShare(reading)
      return share === null ? null : roundsClosed(reading) >= ENOUGH_ROUNDS && share > TIMEOUT_SHARE
    },
    text: (reading) =>
      `${reading.messages.round_timed_out} of ${roundsClosed(reading)} rounds were closed by a timeout.`,
    suggestion:
      'Usually trouble of the network and not of this node: compare with other operators before you restart anything. If only this node sees it, check its connection and clock.',
  },
  {
    finding: 'local_timeouts',
    severity: 'warning',
    when: ({ isWhole, messages: { local_timeout: local, round_timed_out: network } }) =>
      isWhole && local !== null && network !== null ? local >= network + 3 : null,
    text: ({ messages }) =>
      `This node gave up ${messages.local_timeout} rounds; the network gave up ${messages.round_timed_out}.`,
    suggestion:
      'Proposals reach this node late: check the connection (packet loss, bandwidth), processor load and the clock.',
  },
  {
    finding: 'not_voting',
    severity: 'critical',
    when: (reading) => {
      const { votedAt, isWhole, seen, messages, at } = reading
      const { vote_sent: votes } = messages
      // A full node never votes: only who has voted can fall silent.
      if (votedAt === null || at - votedAt > 24 * HOUR) return false
      if (!isWhole || seen.debug_line === 0 || votes === null) return null
      return votes === 0 && (messages.round_advanced ?? 0) >= ENOUGH_ROUNDS
    },
    text: ({ messages }) =>
      `No vote in ${messages.round_advanced} rounds; the node has voted before.`,
    suggestion:
      'Check that the validator is still in the active set (stake), that both keys are the registered ones, and that execution keeps up.',
  },
  {
    finding: 'statesync_active',
    severity: 'info',
    when: ({ statesyncActive }) => statesyncActive,
    text: () => 'The node fetches state from its peers; RPC stays closed until it is done.',
    suggestion:
      'Wait, and watch the progress; if it does not move for 30 minutes, restore a snapshot.',
  },
  {
    finding: 'snapshot_advised',
    severity: 'warning',
    when: saw('snapshot_advised'),
    text: () =>
      'The node itself advises a snapshot: it is empty, or more than 30,000 blocks behind.',
    suggestion:
      'While statesync moves, let it; see which way is the shorter: chain-agent recover. A snapshot is for a node whose statesync is stalled.',
  },
  {
    finding: 'blocksync_active',
    severity: 'info',
    when: ({ blocksyncActive }) => blocksyncActive,
    text: ({ messages }) =>
      `The node asks peers for blocks (${messages.blocksync ?? 'some'} messages).`,
    suggestion: 'Normal after a restart and now and then; if it goes on, check the connection.',
  },
  {
    finding: 'blocksync_without_peers',
    severity: 'warning',
    when: saw('blocksync_no_peers'),
    text: () => 'The node needs blocks and has nobody to ask.',
    suggestion:
      'Check peers, firewall and the list of bootstrap peers in the configuration of the node.',
  },
  {
    finding: 'network_errors',
    severity: 'warning',
    when: ({ networkErrors, networkErrorPeers }) =>
      networkErrorPeers === null ? null : networkErrors > 25 && networkErrorPeers >= 2,
    text: ({ networkErrors, networkErrorPeers }) =>
      `${networkErrors} errors of the network layer in five minutes, from ${networkErrorPeers} peers.`,
    suggestion:
      'One peer alone is his trouble. From several: check the own address record, the clock, and whether a second node runs with the same keys.',
  },
  {
    finding: 'clock_off',
    severity: 'warning',
    when: saw('timestamp_failure', TIMESTAMP_FAILURES),
    text: ({ seen }) => `${seen.timestamp_failure} proposals had times that this node refused.`,
    suggestion:
      'Check the clock: `chronyc tracking` or `timedatectl`; more than 50 ms off is too much.',
  },
  {
    finding: 'execution_lagging',
    severity: 'warning',
    when: saw('execution_lagging', 6),
    text: ({ seen }) => `Execution was not ready ${seen.execution_lagging} times.`,
    suggestion:
      'Look at the execution service: processor, disk latency, and how full its database is.',
  },
  {
    finding: 'pacing_differs',
    severity: 'critical',
    when: saw('pacing_differs'),
    text: () => 'The network votes at another pace than this node is set to.',
    suggestion: 'The version or the configuration is not that of the network: upgrade, or mend it.',
  },
  {
    finding: 'wal_stopped',
    severity: 'warning',
    when: saw('wal_thread_stopped', 11),
    text: () => 'The thread that writes the write-ahead log has stopped.',
    suggestion:
      'Check the space on the disk of the node and restart it; v0.15.0 mends a cause of this.',
  },
  {
    finding: 'wal_not_written',
    severity: 'critical',
    when: saw('wal_push_failed'),
    text: () => 'The node cannot write its write-ahead log.',
    suggestion: 'The disk is full or fails: make room, and look at the kernel log.',
  },
  {
    finding: 'panic',
    severity: 'critical',
    when: ({ seen, isWhole }) => seen.panic + seen.crash > 0 || (isWhole ? false : null),
    text: ({ panic }) => `The node has crashed${panic === null ? '.' : `: ${panic}`}`,
    suggestion:
      'Keep the log (journalctl) for the developers; start consensus and execution together. It does not restart by itself.',
  },
  {
    finding: 'too_far_behind',
    severity: 'critical',
    when: saw('too_far_behind'),
    text: () => 'The node has ended itself: its blocks are too old to go on from.',
    suggestion: 'Start it again and let it statesync, or restore a snapshot if it is far behind.',
  },
  {
    finding: 'suppressed_messages',
    severity: 'warning',
    when: ({ seen, isCovered }) => seen.suppressed > 0 || (isCovered ? false : null),
    text: ({ seen }) =>
      `journald dropped ${seen.suppressed} messages: what is missing proves nothing.`,
    suggestion: 'Set LogRateLimitIntervalSec=0 for the unit, or log less (RUST_LOG).',
  },
  {
    finding: 'info_only_log',
    severity: 'info',
    when: ({ seen, isWhole }) => {
      if (seen.debug_line > 0) return false
      return isWhole ? seen.other_line > 0 : null
    },
    text: () => 'The log has no DEBUG lines: rounds, timeouts, votes and blocksync are not told.',
    suggestion: 'Put debug into RUST_LOG of the unit if you want them; it is the default.',
  },
]
