import type { LogPattern } from './pattern.ts'

/** The host: disks, clock, kernel, huge pages. */
export const host: readonly LogPattern[] = [
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
    services: ['bft'],
    text: 'Timestamp validation failed',
    severity: 'info',
    meaning: "The timestamp of a proposal was rejected, usually because the leader's clock is wrong.",
    advice:
      "No action needed if they come from a few leaders. If they come from all leaders, this host's clock is wrong: check its time service.",
  },
  {
    name: 'clock_backwards',
    services: ['bft'],
    text: '(?:Clock may have gone backwards|system time is before unix epoch)',
    severity: 'warning',
    meaning: 'The clock of the host was set back.',
    advice: 'Check its time service: `chain-agent status host`.',
  },
  {
    name: 'event_ring',
    services: ['execution'],
    text: '(?:.{0,80}?event library error -- |cannot continue without execution event ring|event ring file|flock on event ring file|could not (?:create event ring|dup.2. ring file)|rename of |resolution of event ring file)',
    severity: 'critical',
    meaning: 'The event ring in shared memory cannot be created: no huge pages are free, or another process owns it.',
    advice:
      "Check the host's huge pages, and whether a second execution process runs. Then start consensus and execution together.",
  },
  {
    name: 'huge_pages_missing',
    services: ['execution'],
    text: 'file system hosting event ring file',
    severity: 'warning',
    meaning: 'The event ring is not in huge pages: execution continues, more slowly.',
    advice:
      "Check the host's huge pages and the mount of hugetlbfs, then restart consensus and execution together at a convenient time.",
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
    name: 'buffer_ring',
    services: ['bft'],
    text: 'failed to create (?:multishot )?buffer ring',
    severity: 'warning',
    meaning:
      'The kernel provides no buffer ring of io_uring. Until v0.16 consensus ends; later versions use a slower way.',
    advice: 'Compare the kernel with the known bad versions: `chain-agent status host`.',
  },
]
