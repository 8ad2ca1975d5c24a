/** How often the parts of a simulated node check for changes (milliseconds), and how much they keep. */
export interface Pace {
  /** Between two reads of the journal by a follower. */
  readonly journalMs: number
  readonly keyFilesMs: number
  readonly hostMs: number
  /** Entries that the journal keeps. */
  readonly keptEntries: number
  /** How far the journal reaches back before the start. */
  readonly pastMs: number
  /** How much of the past a read of the journal produces at most: a week can be simulated in large steps. */
  readonly spanMs: number
}

/** For a single node. The journal holds about eight minutes of a healthy node, or five seconds of a flood. */
export const LIVELY: Pace = {
  journalMs: 100,
  keyFilesMs: 200,
  hostMs: 500,
  keptEntries: 20_000,
  pastMs: 120_000,
  spanMs: Infinity,
}

/**
 * For many nodes in one process: costs a fifth of LIVELY. Prometheus scrapes every few seconds and sees the journal as
 * it was up to five seconds before. Reading the past is half of the cost of an agent in its first seconds, so the past
 * is short: the agent's window of consensus is full after a minute.
 */
export const LEISURELY: Pace = {
  journalMs: 5000,
  keyFilesMs: 5000,
  hostMs: 15_000,
  keptEntries: 1500,
  pastMs: 15_000,
  spanMs: Infinity,
}
