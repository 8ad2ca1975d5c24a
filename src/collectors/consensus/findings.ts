import { count } from '../../core/format.ts'
import { hour } from '../../core/units.ts'
import type { Indicator, WindowReading } from './window.ts'

/** The values that the findings are evaluated on. */
export interface ConsensusValues extends WindowReading {
  /** End of the window, in milliseconds since the epoch. */
  readonly at: number
  /** The reason of the last panic; null if there was none. */
  readonly panic: string | null
}

const roundsClosed = ({ messages }: ConsensusValues): number =>
  (messages.round_advanced ?? 0) + (messages.round_timed_out ?? 0)

/** The ratio of rounds that were closed by a timeout; null if the log is incomplete. */
const timeoutRatio = (reading: ConsensusValues): number | null => {
  const { round_advanced: advanced, round_timed_out: timedOut } = reading.messages
  if (!reading.isWhole || advanced === null || timedOut === null) return null
  const closed = roundsClosed(reading)
  return closed === 0 ? 0 : timedOut / closed
}

/** A condition that the analysis of the consensus log detects, and what the operator can do about it. */
export interface Finding {
  /** The name in metrics. */
  readonly finding: string
  readonly severity: 'info' | 'warning' | 'critical'
  /** The address of the alert on the same condition, which has a runbook; null if there is none. */
  readonly alert: string | null
  /** Whether it applies; null if the log does not contain what decides it. */
  readonly when: (reading: ConsensusValues) => boolean | null
  readonly text: (reading: ConsensusValues) => string
  readonly suggestion: string
}

/** With 200 leaders, one with a wrong clock leads about once per minute: more failures than this are several clocks, or the own. */
const TIMESTAMP_FAILURES = 10
/** On a healthy node one round in fifty times out; the target of the network is below 3 %. */
const TIMEOUT_RATIO = 0.05
/** With fewer rounds per minute the ratio is not significant. */
const MIN_ROUNDS = 20

/** Whether the indicator was counted at least N times; false only if the log is complete, else null. */
const counted =
  (indicator: Indicator, atLeast = 1): Finding['when'] =>
  ({ seen, isWhole }) =>
    seen[indicator] >= atLeast || (isWhole ? false : null)

/** All findings. */
export const FINDINGS: readonly Finding[] = [
  {
    finding: 'not_committing',
    severity: 'critical',
    alert: 'ChainBlockStalled',
    when: ({ committing, startActive, statesyncActive }) =>
      committing === null ? null : !committing && startActive !== true && statesyncActive !== true,
    text: () => 'No block was committed in the last 60 seconds.',
    suggestion:
      'See whether the network advances: `chain-agent status chain`. The steps, how much time is left, and whether a restart is enough: `chain-agent recover`.',
  },
  {
    finding: 'timeout_deadlock',
    severity: 'critical',
    alert: 'ChainLogTrouble.consensus-finding',
    when: ({ committing, messages: { local_timeout: timeouts } }) =>
      committing === null || timeouts === null ? null : !committing && timeouts > 0,
    text: ({ messages, localTimeoutRounds }) =>
      `${count(messages.local_timeout ?? 0, 'local timeout')} of ${count(localTimeoutRounds ?? 0, 'round')}, and no block committed.`,
    suggestion:
      'The node runs, but receives too few messages to close a round, and does not recover by itself. The steps, and how much time is left: `chain-agent recover`.',
  },
  {
    finding: 'rounds_closed_by_timeout',
    severity: 'warning',
    alert: 'ChainLogTrouble.network-timeouts',
    when: (reading) => {
      const ratio = timeoutRatio(reading)
      return ratio === null ? null : roundsClosed(reading) >= MIN_ROUNDS && ratio > TIMEOUT_RATIO
    },
    text: (reading) =>
      `${reading.messages.round_timed_out} of ${roundsClosed(reading)} rounds were closed by a timeout.`,
    suggestion:
      'Usually a problem of the network, not of this node: compare with other operators before you restart anything. If only this node is affected, check its connection and clock.',
  },
  {
    finding: 'local_timeouts',
    severity: 'warning',
    alert: 'ChainLogTrouble.consensus-finding',
    // In rounds: while no round ends, the node logs one timeout after the other for the same round.
    when: ({ isWhole, localTimeoutRounds: local, messages: { round_timed_out: network } }) =>
      isWhole && local !== null && network !== null ? local >= network + 3 : null,
    text: ({ messages, localTimeoutRounds }) =>
      `${localTimeoutRounds} rounds timed out on this node, ${messages.round_timed_out} in the network.`,
    suggestion:
      'Proposals reach this node late: check the connection (packet loss, bandwidth), CPU load and the clock.',
  },
  {
    finding: 'not_voting',
    severity: 'warning',
    alert: 'ChainLogTrouble.consensus-finding',
    when: (reading) => {
      const { votedAt, isWhole, seen, messages, at } = reading
      const { vote_created: votes } = messages
      // A full node computes and logs its votes, too, and drops them: the log does not show the role.
      if (votedAt === null || at - votedAt > 24 * hour) return false
      if (!isWhole || seen.debug_line === 0 || votes === null) return null
      return votes === 0 && (messages.round_advanced ?? 0) >= MIN_ROUNDS
    },
    text: ({ messages }) => `No own vote in ${messages.round_advanced} rounds; the node has computed votes before.`,
    suggestion:
      'The node rejects the proposals, or receives them too late: check execution, the clock and the connection. A full node computes votes that it never sends, so none is missed; for a validator ChainNotVoting fires.',
  },
  {
    finding: 'start_active',
    severity: 'info',
    alert: 'ChainStartStalled',
    when: ({ startActive }) => startActive,
    text: () => 'Consensus was started and is not live yet: it waits for the blocks of its forkpoint.',
    suggestion:
      'A healthy start is live within seconds. After three minutes check sessions, firewall and bootstrap peers. The steps: `chain-agent recover`.',
  },
  {
    finding: 'statesync_active',
    severity: 'info',
    alert: 'ChainStatesync',
    when: ({ statesyncActive }) => statesyncActive,
    text: () => 'The node fetches state from its peers; it follows no blocks until statesync completes.',
    suggestion: 'Wait, and monitor the progress; if there is none for 30 minutes: `chain-agent recover`.',
  },
  {
    finding: 'snapshot_advised',
    severity: 'warning',
    alert: 'ChainLogTrouble',
    when: counted('snapshot_advised'),
    text: () => 'The node recommends a snapshot: it is empty, or more than 30,000 blocks behind.',
    suggestion:
      'Do not interrupt a statesync that progresses; chain-agent recover shows which recovery path is shorter.',
  },
  {
    finding: 'blocksync_active',
    severity: 'info',
    alert: null,
    when: ({ blocksyncActive }) => blocksyncActive,
    text: ({ messages }) => `The node requests blocks from peers (${messages.blocksync ?? 'some'} messages).`,
    suggestion: 'Normal after a restart and occasionally; if it continues, check the connection.',
  },
  {
    finding: 'blocksync_without_peers',
    severity: 'warning',
    alert: 'ChainLogTrouble.consensus-finding',
    when: counted('blocksync_no_peers'),
    text: () => 'The node needs blocks and has no peers to request them from.',
    suggestion: 'Check peers, firewall and the list of bootstrap peers in the configuration of the node.',
  },
  {
    finding: 'network_errors',
    severity: 'warning',
    // Peers cause it; a node that suffers from it has fewer votes or sessions, or is behind, which have alerts.
    alert: null,
    when: ({ networkErrors, networkErrorPeers }) =>
      networkErrorPeers === null ? null : networkErrors > 25 && networkErrorPeers >= 2,
    text: ({ networkErrors, networkErrorPeers }) =>
      `${networkErrors} errors of the network layer, from ${networkErrorPeers} peers.`,
    suggestion:
      'Errors of a single peer are a problem of that peer. With several peers: check the address record of this node, the clock, and whether a second node runs with the same keys.',
  },
  {
    finding: 'clock_off',
    severity: 'info',
    // The clocks of other leaders alone cause it; ChainClockDrift measures the clock of this host.
    alert: null,
    when: counted('timestamp_failure', TIMESTAMP_FAILURES),
    text: ({ seen }) => `This node rejected the timestamps of ${seen.timestamp_failure} proposals.`,
    suggestion: 'Check the clock: `chronyc tracking` or `timedatectl`; beyond 200 ms the alert ChainClockDrift fires.',
  },
  {
    finding: 'execution_lagging',
    severity: 'warning',
    alert: 'ChainLogTrouble.consensus-finding',
    when: counted('execution_lagging', 6),
    text: ({ seen }) => `Execution was not ready ${seen.execution_lagging} times.`,
    suggestion: 'Check the execution service: CPU, disk latency and database usage.',
  },
  {
    finding: 'pacing_differs',
    severity: 'info',
    alert: null,
    when: counted('pacing_differs'),
    text: () => 'A vote was ready before the timer of the previous one: proposals arrived late and together.',
    suggestion:
      'No action needed for single lines. If every round has one, compare the version with the one that the network runs.',
  },
  {
    finding: 'wal_stopped',
    severity: 'warning',
    alert: 'ChainLogTrouble.wal-stopped',
    // 50 a second, the limit of the alert: fewer lines harm nothing.
    when: counted('wal_thread_stopped', 3000),
    text: () => 'The trace of events has stopped, which the node does not need, and each event logs a line.',
    suggestion: 'Check the space on the disk of the node. The lines end with its next planned restart.',
  },
  {
    finding: 'wal_not_written',
    severity: 'info',
    alert: null,
    when: counted('wal_push_failed'),
    text: () => 'The node cannot write its trace of events, which it never reads.',
    suggestion: 'Check whether the disk is full or fails: the node needs it for its ledger.',
  },
  {
    finding: 'panic',
    severity: 'critical',
    alert: 'ChainLogTrouble.aborted',
    when: ({ seen, isWhole }) => seen.panic + seen.crash > 0 || (isWhole ? false : null),
    text: ({ panic }) => `The node has crashed${panic === null ? '.' : `: ${panic}`}`,
    suggestion:
      'Save the log (journalctl) for the developers of the node, which does not restart by itself. The steps: `chain-agent recover`.',
  },
  {
    finding: 'too_far_behind',
    severity: 'critical',
    alert: 'ChainLogTrouble.aborted',
    when: counted('too_far_behind'),
    text: () => 'The node exited: the network is too far ahead of its root, 900 blocks by default.',
    suggestion:
      'With its local forkpoint it starts from the same root and exits again: it needs a newer one. The steps: `chain-agent recover`.',
  },
  {
    finding: 'suppressed_messages',
    severity: 'warning',
    alert: 'ChainLogsIncomplete.dropped',
    when: ({ seen, isCovered }) => seen.suppressed > 0 || (isCovered ? false : null),
    text: ({ seen }) => `journald dropped ${seen.suppressed} messages: the absence of a message proves nothing.`,
    suggestion: 'Set LogRateLimitIntervalSec=0 for the unit, or reduce its log level (RUST_LOG).',
  },
  {
    finding: 'info_only_log',
    severity: 'info',
    alert: null,
    // In a statesync and in a start, the lines at DEBUG are of other content.
    when: ({ seen, isWhole, statesyncActive, startActive }) => {
      if (seen.debug_line > 0 || statesyncActive === true || startActive === true) return false
      return isWhole ? seen.other_line > 0 : null
    },
    text: () => 'The log has no DEBUG lines: rounds, timeouts, votes and blocksync are unknown.',
    suggestion: 'Add debug to RUST_LOG of the unit to log them; it is the default.',
  },
]
