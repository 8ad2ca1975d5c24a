/** What a run has cost so far. */
export interface Counters {
  pages: number
  logs: number
  bytes: number
  requests: number
  retries: number
  waitedMs: number
  reorgs: number
  unguarded: number
}

export const newCounters = (): Counters => ({
  pages: 0,
  logs: 0,
  bytes: 0,
  requests: 0,
  retries: 0,
  waitedMs: 0,
  reorgs: 0,
  unguarded: 0,
})
