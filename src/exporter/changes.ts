import pLimit from 'p-limit'
import { type Clock, nextTurn } from '../core/clock.ts'
import { hour, minute, parseDuration, second } from '../core/units.ts'
import type { WhatChanged } from '../health/changes/what-changed.ts'
import type { ChangesResponse } from '../parsers/changes.ts'
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

/** The body of /api/v1/changes. It takes up to 1.3 s, in which nothing else runs: one at a time, other work between. */
export const shareChanges = (
  compute: (window: ChangesWindow) => WhatChanged,
  clock: Clock,
): ((query: ChangesQuery) => Promise<ChangesResponse>) => {
  const inTurn = pLimit(1)
  const make = (query: ChangesQuery): Promise<ChangesResponse> =>
    inTurn(async () => {
      await nextTurn()
      return renderChanges(compute(query))
    })
  const kept = new Map<string, typeof make>()
  return (query) => {
    const key = `${query.isUntilNow ? 'now' : query.to} ${query.span}`
    const one = kept.get(key) ?? shared(make, clock, COMPUTED_FOR)
    kept.delete(key)
    kept.set(key, one)
    for (const oldest of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(oldest)
    return one(query)
  }
}

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
