/** Severity of a pattern: `critical` needs action at once, `warning` needs a look, `info` needs nothing. */
export type Severity = 'critical' | 'warning' | 'info'

/** A service in whose log the pattern can occur. `any`: every program of the node except the cleanup. */
type PatternService = 'bft' | 'execution' | 'cruft' | 'any'

/** A kind of log line that operators need to know. */
export interface LogPattern {
  /** The value of the `pattern` label. Must not change. */
  readonly name: string
  readonly services: readonly PatternService[]
  /**
   * The beginning of the text after the logger's prefix: a regular expression that JavaScript and PCRE2 interpret in
   * the same way.
   */
  readonly text: string
  /** Whether the line never has a logger prefix: the process that writes it is about to end. */
  readonly isBare?: boolean
  /** Whether the next line of the same process gives the reason. */
  readonly reasonOnNextLine?: boolean
  readonly severity: Severity
  readonly meaning: string
  readonly advice: string
}

/** Patterns of the consensus log. Present since v0.11 unless a version is given. */
const CONSENSUS_PATTERNS: readonly LogPattern[] = [
  {
    name: 'high_qc_too_far',
    services: ['bft'],
    // Before Rust 1.73 the reason of a panic is on its first line.
    text: String.raw`(?:thread '.{0,80}? panicked at ')?high qc too far ahead of block tree root`,
    isBare: true,
    severity: 'critical',
    meaning: 'The network is further ahead than the blocks that peers still serve: the node cannot catch up.',
    advice:
      "Start the node's services together so that statesync begins. If the node is far behind, restore a snapshot first.",
  },
  {
    name: 'wal_stopped',
    services: ['bft'],
    text: 'waltrace thread stopped',
    severity: 'critical',
    meaning: 'The write-ahead log is no longer written. The line is logged about 250 times a second (v0.14.5).',
    advice: 'Restart consensus and execution together. Fixed in v0.15.0.',
  },
  {
    name: 'wal_push_failed',
    services: ['bft'],
    text: 'failed to push to wal',
    severity: 'critical',
    meaning: 'A record could not be written to the write-ahead log, usually because the disk is full.',
    advice: "Check the free space of the node's file system, then its drive.",
  },
  {
    name: 'consensus_crashed',
    services: ['bft'],
    text: '(?:[^" ]+ )?consensus node crashed',
    severity: 'critical',
    meaning: 'Consensus exited with code 0: systemd reports a clean stop and does not restart it.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'parent_executor_gone',
    services: ['bft'],
    text: 'parent executor returned none!',
    severity: 'critical',
    meaning: 'A component that consensus needs has ended, so consensus ends too.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'slow_executor',
    services: ['bft'],
    text: 'long time to execute commands',
    severity: 'warning',
    meaning: 'Consensus waits for its own components: the disk or the CPUs are too slow.',
    advice: "Check the host's load, its drives, and other programs on the host.",
  },
  {
    name: 'clock_rejected',
    services: ['bft'],
    text: 'Timestamp validation failed',
    severity: 'info',
    meaning: "The timestamp of a proposal was rejected, usually because the leader's clock is wrong.",
    advice:
      "No action needed if they come from a few leaders. If they come from all leaders, this host's clock is wrong: check its time service.",
  },
  {
    name: 'pacing_mismatch',
    services: ['bft'],
    text: 'network has different vote/proposal pacing than us',
    severity: 'warning',
    meaning: "The network uses a different round pace: the node's version or configuration does not match.",
    advice: 'Compare version and configuration with those of the network.',
  },
  {
    name: 'cannot_propose',
    services: ['bft'],
    text: "no eth_header found, can't propose",
    severity: 'warning',
    meaning: 'Execution was too far behind for the node to propose a block: a slot was lost.',
    advice: 'Check how long execution takes for a block, and what slows it down.',
  },
  {
    name: 'snapshot_advised',
    services: ['bft'],
    text: '(?:local tip over 30000 blocks older than root|starting from empty state, consider fetching a snapshot)',
    severity: 'warning',
    meaning: 'The database is too old or empty: statesync from this state takes very long.',
    advice: 'Stop the node, restore a snapshot, and restart it.',
  },
]

/** Patterns of the execution log, and of any program that opens the database. */
const EXECUTION_PATTERNS: readonly LogPattern[] = [
  {
    name: 'block_failed',
    services: ['execution'],
    text: String.raw`block\s*\d+ failed with: `,
    severity: 'critical',
    meaning: 'The node cannot execute a block that the network accepts as valid.',
    advice: 'Compare the version with the one that the network requires. Keep the log.',
  },
  {
    name: 'result_mismatch',
    services: ['execution'],
    text: 'Delayed execution result mismatch for block',
    severity: 'critical',
    meaning: "The execution result differs from the network's: the states have diverged.",
    advice: 'Stop the node, compare its version, and restore the database from a snapshot.',
  },
  {
    name: 'slow_commit',
    services: ['execution'],
    text: 'Slow block commit detected',
    severity: 'warning',
    meaning: 'Writing a block to the database took far too long.',
    advice: 'Check the drive of the database: temperature, health, and other processes that write to it.',
  },
  {
    name: 'event_ring',
    services: ['execution'],
    text: String.raw`.{0,80}?event library error -- `,
    severity: 'critical',
    meaning: 'The event ring in shared memory cannot be created, usually because no huge pages are free.',
    advice: "Check the host's huge pages, then restart execution.",
  },
  {
    name: 'io_uring',
    services: ['execution'],
    text: String.raw`.{0,80}?io_uring_queue_init_params failed`,
    severity: 'critical',
    meaning: 'The kernel provides no io_uring queue: some kernels have a bug, a container may forbid it.',
    advice: 'Compare the kernel with the known bad versions, and check the limit of locked memory.',
  },
  {
    name: 'virtual_offset',
    services: ['execution'],
    text: 'Virtual offset space is running out',
    severity: 'critical',
    meaning: 'The database is running out of addresses for new data.',
    advice: 'Plan to rebuild the database from a snapshot before the addresses are used up.',
  },
  {
    name: 'exception',
    services: ['execution'],
    text: String.raw`(?:.{0,80}?[\s:])?[A-Z][A-Za-z]*Exception: `,
    severity: 'warning',
    meaning: 'A part of execution failed with an exception.',
    advice: 'Read the line. Check that the service still runs and that its height increases.',
  },
  {
    name: 'history_shortened',
    services: ['execution'],
    text: 'Adjust db history length down',
    severity: 'warning',
    meaning: 'The database is more than 80 % full and drops old state to stay below that.',
    advice: 'No immediate action: only history is dropped. If free space still decreases, add storage.',
  },
  {
    name: 'timeline_missing',
    services: ['execution'],
    text: String.raw`live \S+ requires a page-encoded timeline`,
    severity: 'critical',
    meaning: 'This version needs the page-encoded timeline, and the database has none (v0.16).',
    advice: 'Migrate the database as the release notes describe, then restart the node.',
  },
  {
    name: 'db_old_format',
    services: ['any'],
    text: String.raw`DB is on older format \(magic=`,
    severity: 'critical',
    meaning: 'The database has the format of an older version: no program opens it (v0.15).',
    advice: 'Upgrade it with the storage tool as the release notes describe, then restart the node.',
  },
  {
    name: 'db_hard_reset',
    services: ['execution'],
    text: 'database must be hard reset when loading snapshot',
    severity: 'critical',
    meaning: 'A snapshot was to be loaded into a non-empty database.',
    advice: 'Run the hard reset first.',
  },
  {
    name: 'db_dirty',
    services: ['any'],
    text: 'DB metadata was closed dirty',
    severity: 'warning',
    meaning: 'The last process that wrote to the database did not close it.',
    advice: 'No action needed if the program continues. Otherwise start execution, which repairs the database.',
  },
]

/** Crashes of any program. */
const CRASHES: readonly LogPattern[] = [
  {
    name: 'assertion',
    services: ['any'],
    text: "(?:.*: )?Assertion [`'].*' failed",
    isBare: true,
    reasonOnNextLine: true,
    severity: 'critical',
    meaning: 'An assertion failed, and the program ended with SIGABRT.',
    advice:
      'Keep the log. If consensus was started alone, start it and execution together. If the text names the database or the kernel, check those.',
  },
  {
    name: 'abort',
    services: ['any'],
    text: '(?:.*: )?[A-Z]+_ABORT called',
    isBare: true,
    reasonOnNextLine: true,
    severity: 'critical',
    meaning: 'The program could not continue and ended with SIGABRT.',
    advice: 'Read the reason in the log and follow it.',
  },
  {
    name: 'panic',
    services: ['any'],
    text: String.raw`thread '.{0,80}?'(?: \(\d+\))? panicked at `,
    isBare: true,
    reasonOnNextLine: true,
    severity: 'critical',
    meaning: 'A Rust program could not continue and ended.',
    advice: 'Read the reason, then start consensus and execution together.',
  },
  {
    name: 'fatal',
    services: ['any'],
    text: String.raw`(?:terminate called after throwing|memory allocation of \d+ bytes failed|.{0,160}?std::bad_alloc)`,
    severity: 'critical',
    meaning: 'The program ran out of memory or ended with an uncaught exception.',
    advice:
      "Check the host's memory and huge pages and what else uses them, then start consensus and execution together. If the line names another exception, keep the log.",
  },
]

/** Disk errors of any program. */
const DISK: readonly LogPattern[] = [
  {
    name: 'disk_full',
    services: ['any', 'cruft'],
    text: '.{0,160}?No space left on device',
    severity: 'critical',
    meaning: 'A file system or the huge pages are full, and a write failed.',
    advice:
      "Use `df` and `df -i` to find the full file system, and free space on it: old logs first, then the node's files that its cleanup would delete. Then start the services that have ended.",
  },
]

const CLEANUP: readonly LogPattern[] = [
  {
    name: 'cleanup_skipped',
    services: ['cruft'],
    text: 'No new files detected. Skipping',
    severity: 'warning',
    meaning: 'The cleanup deleted nothing, because the ledger had no new file for 20 minutes.',
    advice: 'Find out why the node is stalled. Until it advances again, watch the free space of its file system.',
  },
  {
    name: 'cleanup_completed',
    services: ['cruft'],
    text: 'Cleanup completed successfully',
    severity: 'info',
    meaning: 'The hourly cleanup has deleted old files.',
    advice: 'No action needed. If the line is missing for two hours, check the timer.',
  },
]

/** All patterns. */
export const LOG_PATTERNS = [...CRASHES, ...DISK, ...CONSENSUS_PATTERNS, ...EXECUTION_PATTERNS, ...CLEANUP]
