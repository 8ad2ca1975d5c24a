import { hour, minute, parseDuration, second } from '../core/units.ts'
import type { WhatChanged } from '../health/changes/what-changed.ts'
import type { ChangesResponse } from '../parsers/changes.ts'

/** The window of a request for changes, in milliseconds. */
export interface ChangesQuery {
  readonly to: number
  readonly span: number
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
  return { to, span }
}

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** The body of /api/v1/changes. */
export const renderChanges = ({ from, to, comparedFrom, oldest, newest, changes }: WhatChanged): ChangesResponse => ({
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
