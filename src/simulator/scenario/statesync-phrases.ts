import { bare, type Effect, type Phrase } from './phrase.ts'
import type { Statesync } from './statesync.ts'

const running =
  (change: (statesync: Statesync, atMs: number) => Statesync): Effect =>
  (condition, atMs) => {
    const { statesync } = condition
    if (!statesync || atMs >= statesync.untilMs) return condition
    return { ...condition, statesync: change(statesync, atMs) }
  }

/** What befalls a statesync while it lasts; nothing where there is none. */
export const statesyncPhrases: readonly Phrase[] = [
  bare(
    { subject: 'statesync', verb: 'stalls', means: 'statesync is stalled: no peer answers' },
    running((statesync, atMs) =>
      statesync.leftMs === undefined
        ? { ...statesync, untilMs: Infinity, leftMs: statesync.untilMs - atMs }
        : statesync,
    ),
  ),
  bare(
    { subject: 'statesync', verb: 'goes', means: 'statesync resumes where it stalled' },
    running((statesync, atMs) =>
      statesync.leftMs === undefined
        ? statesync
        : { ...statesync, untilMs: atMs + statesync.leftMs, leftMs: undefined },
    ),
  ),
]
