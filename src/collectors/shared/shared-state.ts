import { createRoundLog } from '../consensus/round-log.ts'
import { createDuties, createRoundCounter } from '../derived/duties.ts'
import { createRecentRounds } from '../ledger/recent-rounds.ts'
import { createRoundFeed } from '../schedule/predictions.ts'
import { createHeartbeatInbox, createMainPids, createOwnBlock } from './node-state.ts'

export type SharedState = ReturnType<typeof createSharedState>

/** What several collectors share, whatever the configuration is. */
export const createSharedState = () => ({
  mainPids: createMainPids(),
  roundCounter: createRoundCounter(),
  roundFeed: createRoundFeed(),
  recentRounds: createRecentRounds(),
  roundLog: createRoundLog(),
  ownBlock: createOwnBlock(),
  duties: createDuties(),
  /** The heartbeats of another node that were received here. */
  heartbeatInbox: createHeartbeatInbox(),
})
