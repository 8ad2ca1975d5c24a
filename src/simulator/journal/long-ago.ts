import { createHeights } from '../heights.ts'
import { createTimeline } from '../scenario/timeline.ts'
import { createJournalContent, type JournalSubject } from './journal-content.ts'
import type { Draft } from './journal.ts'

const HOUR_MS = 3_600_000
/** The processes run for 53 hours when the simulation begins. */
const BEFORE_MS = 48 * HOUR_MS
/** From a full hour on: a block has come by then, and the clean-up, which takes two seconds, is done. */
const LENGTH_MS = 2500

/** The first that each unit wrote after a full hour two days before the beginning, when all was well. */
export const writtenLongAgo = (subject: JournalSubject): readonly Draft[] => {
  const { beginMs } = subject.timeline
  const timeline = createTimeline({ steps: [] }, beginMs)
  const heights = createHeights(subject.chain, timeline)
  const produce = createJournalContent({ ...subject, timeline, heights })
  const fromMs = Math.floor((beginMs - BEFORE_MS) / HOUR_MS) * HOUR_MS - 1
  const first = new Map<string | undefined, Draft>()
  for (const draft of produce(fromMs, fromMs + LENGTH_MS)) {
    const unit = draft.fields['_SYSTEMD_UNIT']
    if (!first.has(unit)) first.set(unit, draft)
  }
  return [...first.values()]
}
