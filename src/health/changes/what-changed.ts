import { hour } from '../../core/units.ts'
import { type RankedChange, rankChanges } from './rank-changes.ts'
import type { SeriesHistory } from './series-history.ts'
import { changeText, differsInText } from './words.ts'

/** What a window is compared with, in milliseconds. */
const COMPARED = hour

export interface WhatChanged {
  /** The window, in milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  /** The first sample before the window; null without one: nothing can be compared. */
  readonly comparedFrom: number | null
  /** The oldest sample of all, and the newest of the window; null without one. */
  readonly oldest: number | null
  readonly newest: number | null
  readonly changes: readonly (RankedChange & { readonly text: string })[]
}

/** The metrics that differ in the `span` up to `to` from the hour before it, or from the part of it that is known. */
export const whatChanged = (history: SeriesHistory, { to, span }: { to: number; span: number }): WhatChanged => {
  const from = to - span
  const recording = history.read({ beforeFrom: from - COMPARED, from, to })
  const { times, before } = recording
  const hasBoth = before > 0 && times.length > before
  return {
    from,
    to,
    comparedFrom: before === 0 ? null : (times[0] ?? null),
    oldest: history.oldestAt() ?? null,
    newest: times.length > before ? (times.at(-1) ?? null) : null,
    changes: hasBoth
      ? rankChanges(recording)
          .filter(differsInText)
          .map((change) => ({ ...change, text: changeText(change) }))
      : [],
  }
}
