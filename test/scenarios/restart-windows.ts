/** The conditions of a restart that prevent it. */
interface Obstacles {
  readonly no?: readonly string[]
  /** Required, and unknown. */
  readonly unknown?: readonly string[]
}

/** A service that is down has a condition of its own. */
const DOWN: Obstacles = { no: ['services', 'sync'] }
/** With a critical log line. */
const FAILED: Obstacles = { no: ['services', 'sync', 'findings'] }
const NO_BLOCKS: Obstacles = { no: ['sync', 'findings'] }
const FINDINGS: Obstacles = { no: ['findings'] }

/**
 * What prevents a restart in each scenario, half a minute after its failure; the scenarios that are not listed do not
 * prevent one. From the descriptions of the scenarios: `sync` needs a block of the last 10 s within 15 blocks of the
 * network, `findings` no critical alert, `epoch` a ledger stream or a consensus log that is up to date.
 */
export const RESTART_OBSTACLES: Readonly<Record<string, Obstacles>> = {
  assertion: FAILED,
  'bad-state-root': FINDINGS,
  'database-old': FAILED,
  // Its alerts need a minute without commits.
  deadlock: { no: ['sync'] },
  'falling-behind': { no: ['sync'] },
  'format-drift': { unknown: ['epoch'] },
  'host-reboot': NO_BLOCKS,
  'info-only-log': { unknown: ['network'] },
  isolated: FINDINGS,
  'journal-frozen': { unknown: ['epoch'] },
  lagging: NO_BLOCKS,
  'left-active-set': FINDINGS,
  'no-journal-permission': { unknown: ['epoch'] },
  'node-down': DOWN,
  'not-voting': FINDINGS,
  'nvme-failing': FINDINGS,
  panic: FAILED,
  'references-down': { unknown: ['references'] },
  'rpc-frozen': NO_BLOCKS,
  'service-crash': DOWN,
  'slow-execution': FINDINGS,
  stalled: NO_BLOCKS,
  statesync: { no: ['sync'] },
  'statesync-frozen': { no: ['sync'] },
  'storage-full': FINDINGS,
  'wal-stopped': FINDINGS,
}
