/**
 * From where on a figure is a finding: the numbers of the alert rules, so that a terminal and a pager
 * say the same. A test holds them against the rules. `alert` is where the number stands.
 */
export const LIMITS = {
  /** Age of the newest block, in seconds. */
  blockAge: { alert: 'ChainBlockStalled', warning: 10, critical: 30 },
  /** Time that the network is ahead, in seconds. */
  behind: { alert: 'ChainBehind', warning: 5, critical: 20 },
  /** Blocks that are left until peers no longer serve the node block by block. */
  windowBlocks: { alert: 'ChainBlocksyncWindow', warning: 450, critical: 300 },
  /** Since statesync last moved, in seconds. */
  statesyncStalled: { alert: 'ChainStatesyncFrozen', warning: 900, critical: 1800 },
  /** Until a fork that the node is not ready for, in seconds. */
  fork: { alert: 'ChainForkNotReady', warning: 604_800, critical: 172_800 },
  /** Used share of the database. */
  storageUsed: { alert: 'ChainStorageFull', critical: 0.85 },
  /** Free share of the chunks of the database. */
  freeChunks: { alert: 'ChainStorageFreeChunksLow', warning: 0.1, critical: 0.05 },
  /** Free share of a file system. */
  diskFree: { alert: 'ChainDiskFull', critical: 0.05 },
  /** Offset of the clock, in seconds. */
  clockOffset: { alert: 'ChainClockDrift', warning: 0.05, critical: 0.25 },
  driveCelsius: { alert: 'ChainDriveHot', warning: 70, critical: 75 },
  /** Share of the life of a drive that is used up. */
  driveWorn: { alert: 'ChainDriveWorn', warning: 0.8, critical: 0.95 },
  fileDescriptors: { alert: 'ChainFileDescriptorLimit', warning: 16_384, critical: 4096 },
  fileDescriptorsUsed: { alert: 'ChainFileDescriptorsUsed', warning: 0.8 },
  /** Since the last clean-up, in seconds. */
  cleanup: { alert: 'ChainCleanupLate', warning: 7200 },
  /** Since the forkpoint file was written, in seconds. */
  forkpoint: { alert: 'ChainForkpointStale', warning: 1800 },
  /** Own rounds in a row that timed out. */
  ownTimeouts: { alert: 'ChainLeaderTimeoutsInARow', critical: 3 },
  /** Share of the own rounds that timed out. */
  ownTimeoutShare: { alert: 'ChainLeaderTimeouts', warning: 0.05 },
  /** Transport sessions of a node that knows many peers. */
  sessions: { alert: 'ChainIsolated', critical: 5 },
  sessionsLow: { alert: 'ChainSessionsLow', warning: 8 },
} as const

/** More peers than this and next to no session is isolation, and no quiet network. */
export const MANY_PEERS = 50
/** Below this number of own rounds a share of them is chance. */
export const ENOUGH_OWN_ROUNDS = 20
/** Above this share of timeouts in the network, those of the node itself are not its own fault. */
export const NETWORK_TIMEOUT_SHARE = 0.03
/** Blocks a second where the rate is not measured yet; the same as in the rule of ChainBehind. */
export const USUAL_RATE = 3
