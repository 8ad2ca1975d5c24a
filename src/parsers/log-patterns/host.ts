import type { LogPatternRow } from './pattern.ts'

/** The host: disks, clock, kernel, huge pages. */
export const host: readonly LogPatternRow[] = [
  {
    name: 'disk_full',
    services: ['any', 'cruft'],
    text: '.{0,160}?No space left on device',
    severity: 'critical',
    meaning: 'A file system or the huge pages are full, and a write failed.',
    advice:
      "Use `df` and `df -i` to find the full file system, and free space on it: old logs first, then the node's files that its cleanup would delete. Then start the services that have ended.",
  },
  {
    name: 'clock_rejected',
    text: 'Timestamp validation failed',
    severity: 'info',
    meaning:
      "The timestamp of a proposal differs from this host's clock by more than 500 ms and one vote pace, or is not newer than its parent's: usually the leader's clock is wrong.",
    advice:
      "No action needed if they come from a few leaders. If they come from all leaders, this host's clock is wrong: check its time service.",
  },
  {
    name: 'clock_before_epoch',
    text: 'Clock may have gone backwards',
    isBare: true,
    meaning: "Consensus ended, because the host's clock shows a time before 1970.",
    advice:
      'Set the clock: `chain-agent status host` shows its time service. Then start consensus and execution together.',
  },
  {
    name: 'clock_not_set',
    text: 'system time is before unix epoch',
    meaning: "The host's clock shows a time before 1970.",
    advice: 'Set the clock: `chain-agent status host` shows its time service.',
  },
  {
    name: 'event_ring',
    services: ['execution'],
    text: '(?:.{0,80}?event library error -- |cannot continue without execution event ring|event ring file|flock on event ring file|could not (?:create event ring|dup.2. ring file)|rename of |resolution of event ring file)',
    endsProcess: true,
    meaning: 'The event ring in shared memory cannot be created: no huge pages are free, or another process owns it.',
    advice:
      "Check the host's huge pages, and whether a second execution process runs. Then start consensus and execution together.",
  },
  {
    name: 'huge_pages_missing',
    services: ['execution'],
    text: 'file system hosting event ring file',
    meaning: 'The event ring is not in huge pages: execution continues, more slowly.',
    advice:
      "Check the host's huge pages and the mount of hugetlbfs, then restart consensus and execution together at a convenient time.",
  },
  {
    name: 'io_uring',
    services: ['execution'],
    text: String.raw`(?:.{0,80}?io_uring_queue_init_params failed|io_uring_register_buffers in )`,
    endsProcess: true,
    meaning:
      'The kernel provides no io_uring queue, or registers no buffers for it: some kernels have a bug, a container may forbid it.',
    advice: 'Compare the kernel with the known bad versions, and check the limit of locked memory.',
  },
  {
    name: 'buffer_ring',
    text: 'failed to create multishot buffer ring',
    meaning: 'The kernel provides no buffer ring of io_uring: consensus receives messages in a slower way.',
    advice: 'Compare the kernel with the known bad versions: `chain-agent status host`.',
  },
  {
    name: 'buffer_ring_required',
    // The first text until v0.16, the second since.
    text: 'failed to (?:create buffer ring|recreate multishot buffer ring)',
    isBare: true,
    meaning: 'Consensus ended, because the kernel provides no buffer ring of io_uring.',
    advice:
      'Compare the kernel with the known bad versions: `chain-agent status host`. Set `enable_udp_multishot = false` in node.toml if the version has it, then start consensus and execution together.',
  },
]
