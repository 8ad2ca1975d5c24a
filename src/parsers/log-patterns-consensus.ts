import type { LogPattern } from './log-pattern.ts'

/** What the log of consensus can say. Texts since v0.11, unless a version is named. */
export const CONSENSUS_PATTERNS: readonly LogPattern[] = [
  {
    name: 'high_qc_too_far',
    speakers: ['bft'],
    // Before Rust 1.73 the reason of a panic stood in its first line.
    text: String.raw`(?:thread '.{0,80}? panicked at ')?high qc too far ahead of block tree root`,
    isBare: true,
    severity: 'critical',
    means: 'The network is further ahead than peers serve blocks for: the node cannot follow.',
    advice:
      'Start the services of the node together, so that statesync begins; from far behind, restore a snapshot first.',
  },
  {
    name: 'wal_stopped',
    speakers: ['bft'],
    text: 'waltrace thread stopped',
    severity: 'critical',
    means:
      'The write-ahead log is no longer written, and the line comes some 250 times a second (v0.14.5).',
    advice: 'Restart consensus and execution together; v0.15.0 has mended it.',
  },
  {
    name: 'wal_push_failed',
    speakers: ['bft'],
    text: 'failed to push to wal',
    severity: 'critical',
    means: 'A record could not be written to the write-ahead log; mostly the disk is full.',
    advice: 'Look at the free space of the file system of the node, then at its drive.',
  },
  {
    name: 'consensus_crashed',
    speakers: ['bft'],
    text: '(?:[^" ]+ )?consensus node crashed',
    severity: 'critical',
    means:
      'Consensus has ended itself with exit code 0: systemd shows a clean stop, and starts nothing.',
    advice: 'Read the lines before it, then start consensus and execution together.',
  },
  {
    name: 'parent_executor_gone',
    speakers: ['bft'],
    text: 'parent executor returned none!',
    severity: 'critical',
    means: 'A part that consensus lives from has ended: consensus ends, too.',
    advice: 'Read the lines before it, then start consensus and execution together.',
  },
  {
    name: 'slow_executor',
    speakers: ['bft'],
    text: 'long time to execute commands',
    severity: 'warning',
    means: 'Consensus waits for its own parts: the disk or the processors are too slow now.',
    advice: 'Look at the load of the host, its drives, and what else runs on it.',
  },
  {
    name: 'clock_rejected',
    speakers: ['bft'],
    text: 'Timestamp validation failed',
    severity: 'info',
    means: 'The time of a proposal was not credible: mostly the clock of its leader is off.',
    advice:
      'Nothing, where they come from few leaders; where from all, the own clock is off: see to its time service.',
  },
  {
    name: 'pacing_mismatch',
    speakers: ['bft'],
    text: 'network has different vote/proposal pacing than us',
    severity: 'warning',
    means: 'The network has another pace of rounds: the version or the configuration is not its.',
    advice: 'Compare version and configuration with what the network runs.',
  },
  {
    name: 'cannot_propose',
    speakers: ['bft'],
    text: "no eth_header found, can't propose",
    severity: 'warning',
    means: 'Execution was too far behind for a proposal of our own: a slot was lost.',
    advice: 'See how long execution takes for a block, and what slows it down.',
  },
  {
    name: 'snapshot_advised',
    speakers: ['bft'],
    text: '(?:local tip over 30000 blocks older than root|starting from empty state, consider fetching a snapshot)',
    severity: 'warning',
    means: 'The database is too old, or empty: statesync from there takes very long.',
    advice: 'Stop the node, restore a snapshot, and start it again.',
  },
]
