/**
 * Thresholds of findings. They are those of the alert rules, so that the terminal and the pager agree; a test compares
 * them with the rules. `alert` is the rule that has the number.
 */
export const LIMITS = {
  /** Age of the newest block, in seconds. */
  blockAge: { alert: 'ChainBlockStalled', warning: 10, critical: 30 },
  /** How far the node is behind the network, in seconds. */
  behind: { alert: 'ChainBehind', warning: 5, critical: 20 },
  /** Blocks left until peers no longer serve the node block by block. */
  windowBlocks: { alert: 'ChainBlocksyncWindow', warning: 450, critical: 300 },
  /** Time since the last progress of statesync, in seconds. */
  statesyncStalled: { alert: 'ChainStatesyncFrozen', warning: 900, critical: 1800 },
  /** Time until a fork that the node is not ready for, in seconds. */
  fork: { alert: 'ChainForkNotReady', warning: 604_800, critical: 172_800 },
  /** Used share of the database, 0 to 1. */
  storageUsed: { alert: 'ChainStorageFull', critical: 0.85 },
  /** Free share of the chunks of the database, 0 to 1. */
  freeChunks: { alert: 'ChainStorageFreeChunksLow', warning: 0.1, critical: 0.05 },
  /** Free share of a file system, 0 to 1. */
  diskFree: { alert: 'ChainDiskFull', critical: 0.05 },
  /** Offset of the clock, in seconds. */
  clockOffset: { alert: 'ChainClockDrift', warning: 0.05, critical: 0.25 },
  driveCelsius: { alert: 'ChainDriveHot', warning: 70 },
  /** Used share of the life of a drive, 0 to 1. */
  driveWorn: { alert: 'ChainDriveWorn', warning: 0.8 },
  fileDescriptors: { alert: 'ChainFileDescriptorLimit', warning: 16_384 },
  fileDescriptorsUsed: { alert: 'ChainFileDescriptorsUsed', warning: 0.8 },
  /** Time since the last clean-up, in seconds. */
  cleanup: { alert: 'ChainCleanup', warning: 7200 },
  /** Age of the forkpoint file, in seconds. */
  forkpoint: { alert: 'ChainForkpointStale', warning: 1800 },
  /** Consecutive rounds led by this node that timed out. */
  ownTimeouts: { alert: 'ChainLeaderTimeoutsInARow', critical: 3 },
  /** Share of the rounds led by this node that timed out, 0 to 1. */
  ownTimeoutShare: { alert: 'ChainLeaderTimeouts', warning: 0.05 },
  /** Transport sessions of a node that knows many peers. */
  sessions: { alert: 'ChainIsolated', critical: 5 },
  sessionsLow: { alert: 'ChainSessionsLow', warning: 8 },
} as const

/** With more known peers than this, having hardly any session means isolation and not a small network. */
export const MANY_PEERS = 50
/** With fewer rounds led by this node, a share of them may be chance. */
export const ENOUGH_OWN_ROUNDS = 20
/** Above this share of timeouts in the network, those of this node are not its own fault. */
export const NETWORK_TIMEOUT_SHARE = 0.03
/** Blocks per second while the rate is not measured yet; the same number as in the rule of ChainBehind. */
export const USUAL_RATE = 3

interface Limit {
  readonly warning?: number
  readonly critical?: number
}

/** Severity of a value that should stay below its limits; undefined if it does or is unknown. */
export const above = (value: number | undefined, { warning, critical }: Limit): 'critical' | 'warning' | undefined => {
  if (value === undefined) return undefined
  if (critical !== undefined && value > critical) return 'critical'
  return warning !== undefined && value > warning ? 'warning' : undefined
}

/** Severity of a value that should stay above its limits; undefined if it does or is unknown. */
export const below = (value: number | undefined, { warning, critical }: Limit): 'critical' | 'warning' | undefined => {
  if (value === undefined) return undefined
  if (critical !== undefined && value < critical) return 'critical'
  return warning !== undefined && value < warning ? 'warning' : undefined
}
