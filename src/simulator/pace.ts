/** How often the parts of a simulated node look whether anything has changed (milliseconds), and how much they remember. */
export interface Pace {
  /** Between two looks of a follower into the journal. */
  readonly journalMs: number
  readonly keyFilesMs: number
  readonly hostMs: number
  /** Entries of the journal. */
  readonly keptEntries: number
  /** How far the journal reaches back before the beginning. */
  readonly pastMs: number
}

/** For one node, watched closely; the journal is some eight minutes of a healthy node, five seconds of a flood. */
export const LIVELY: Pace = {
  journalMs: 100,
  keyFilesMs: 200,
  hostMs: 500,
  keptEntries: 20_000,
  pastMs: 120_000,
}

/**
 * For many nodes in one process: a fifth of what the lively pace costs. Prometheus comes every few seconds,
 * and sees of the journal what was there five seconds before. Half of what an agent costs in its first
 * seconds is the past, so there is little of it: the agent's window of consensus is full after a minute.
 */
export const LEISURELY: Pace = {
  journalMs: 5000,
  keyFilesMs: 5000,
  hostMs: 15_000,
  keptEntries: 1500,
  pastMs: 15_000,
}
