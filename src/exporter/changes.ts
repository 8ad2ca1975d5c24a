import { type Clock, nextTurn } from '../core/clock.ts'
import { hour, minute, parseDuration, second } from '../core/units.ts'
import type { WhatChanged } from '../health/changes/what-changed.ts'
import type { ChangesResponse } from '../parsers/changes.ts'
import { createFairQueue } from './fair-queue.ts'
import { shared } from './monitoring.ts'

/** A window of changes, in milliseconds. */
export interface ChangesWindow {
  readonly to: number
  readonly span: number
}

interface ChangesQuery extends ChangesWindow {
  /** Whether it ends at the time of the request. */
  readonly isUntilNow: boolean
}

const DEFAULT_SPAN = 10 * minute
const LEAST_SPAN = 30 * second
/** The agent keeps two hours: the window and the hour before it. */
const MAX_SPAN = hour
/** The end of year 9999. */
const LATEST = 253_402_300_799_999

/** Parses the query parameters; returns an error text if they are invalid. */
export const readChangesQuery = (query: URLSearchParams, now: number): ChangesQuery | string => {
  const at = query.get('at')
  const to = at === null ? now : /^\d+(?:\.\d+)?$/.test(at) ? Number(at) * 1000 : Date.parse(at)
  if (!(to >= hour * 2 && to <= LATEST))
    return 'at: expected a time such as 2026-03-01T12:00:00Z, or seconds since the epoch'
  const length = query.get('for')
  const span = length === null ? DEFAULT_SPAN : parseDuration(length)
  if (span === undefined || span < LEAST_SPAN || span > MAX_SPAN)
    return 'for: expected a duration from 30s to 1h, such as 10m'
  return { to, span, isUntilNow: at === null }
}

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** All who ask for the same window within this time get one result, in milliseconds. */
const COMPUTED_FOR = 5 * second
/** The newest windows whose results are kept. */
const MAX_KEPT = 4

/** Computations that wait for the one in progress. */
const MAX_WAITING = 4
/** For each ms of a computation, this number of ms without one: the event loop belongs to /metrics and the collectors. */
const PAUSE_RATIO = 4

type ShareChanges = (query: ChangesQuery, client: string) => Promise<ChangesResponse | undefined>

/**
 * The body of /api/v1/changes; undefined if too many others wait. A computation takes up to 1.3 s, in which nothing else
 * runs: one at a time, in turn by client, and a fifth of the time at most.
 */
export const shareChanges = (compute: (window: ChangesWindow) => WhatChanged, clock: Clock): ShareChanges => {
  let tookMs = 0
  const pause = async (): Promise<void> => {
    if (tookMs > 0) await clock.sleep(tookMs * PAUSE_RATIO, NEVER)
  }
  const queue = createFairQueue({ most: MAX_WAITING, pause })
  const kept = new Map<string, ShareChanges>()
  const make: ShareChanges = async (query, client) => {
    const result = await queue({ client, weight: 0 }, async () => {
      await nextTurn()
      const startedAt = clock.elapsed()
      const rendered = renderChanges(compute(query))
      tookMs = clock.elapsed() - startedAt
      return rendered
    })
    if (!result) kept.delete(keyOf(query))
    return result
  }
  return (query, client) => {
    const key = keyOf(query)
    const one = kept.get(key) ?? shared(make, clock, COMPUTED_FOR)
    kept.delete(key)
    kept.set(key, one)
    for (const oldest of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(oldest)
    return one(query, client)
  }
}

const NEVER = new AbortController().signal
const keyOf = ({ isUntilNow, to, span }: ChangesQuery): string => `${isUntilNow ? 'now' : to} ${span}`

const renderChanges = ({ from, to, comparedFrom, oldest, newest, changes }: WhatChanged): ChangesResponse => ({
  fromAt: iso(from),
  toAt: iso(to),
  comparedFromAt: isoOrNull(comparedFrom),
  oldestAt: isoOrNull(oldest),
  newestAt: isoOrNull(newest),
  changes: changes.map((change) => ({
    metric: change.family,
    labels: change.labels,
    text: change.text,
    kind: change.kind,
    from: change.from,
    to: change.to,
    sinceAt: iso(change.since),
    untilAt: isoOrNull(change.until),
    score: change.score,
    others: change.others,
    with: change.with,
  })),
})
