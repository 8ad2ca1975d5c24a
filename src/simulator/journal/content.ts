import type { Chain, Validator } from '../chain/chain.ts'
import { createConsensusEntries } from '../consensus/consensus-log.ts'
import { createLedgerTail } from '../consensus/ledger-tail.ts'
import { createExecutionEntries } from '../execution.ts'
import { drift } from '../format-drift.ts'
import { createHeights, type Heights } from '../heights.ts'
import { injectedEntries } from '../injected-lines.ts'
import { createTimeline, type Timeline } from '../scenario/timeline.ts'
import { createCleanupEntries } from '../services/cleanup.ts'
import { lifecycleEntries } from '../services/service.ts'
import type { Draft } from './journal.ts'
import { serviceEntry } from './journald.ts'

interface JournalSubject {
  readonly node: string
  readonly prefix: string
  readonly own: Validator
  readonly chain: Chain
  readonly timeline: Timeline
  readonly heights: Heights
}

/** The journal entries of a node and its systemd, for consecutive time ranges. */
export const createJournalContent = (subject: JournalSubject) => {
  const { timeline } = subject
  const ledgerTail = createLedgerTail(subject)
  const consensus = createConsensusEntries(subject)
  const execution = createExecutionEntries(subject)
  const cleanup = createCleanupEntries(subject)
  return (fromMs: number, toMs: number): readonly Draft[] => {
    const drafts: Draft[] = [...consensus(fromMs, toMs), ...execution(fromMs, toMs)]
    for (const { atMs, text } of ledgerTail(fromMs, toMs)) {
      drafts.push(ledgerEntry(subject, atMs, text))
    }
    for (const change of timeline.changes) {
      if (change.atMs > fromMs && change.atMs <= toMs)
        drafts.push(...injectedEntries(subject, change), ...lifecycleEntries(subject, change))
    }
    drafts.push(...cleanup(fromMs, toMs))
    return drafts.toSorted((a, b) => a.atMs - b.atMs)
  }
}

const ledgerEntry = (subject: JournalSubject, atMs: number, plain: string): Draft => {
  const { services, formatsDrift } = subject.timeline.conditionAt(atMs)
  const text = formatsDrift ? drift.ledgerTail(plain) : plain
  const program = `${subject.prefix}-ledger-tail`
  return serviceEntry(subject, services['ledger-tail'], { atMs, text, program })
}

const HOUR_MS = 3_600_000
/** The processes have run for 53 hours when the simulation starts. */
const BEFORE_MS = 48 * HOUR_MS
/** From a full hour on: long enough for a block and for the clean-up, which takes two seconds. */
const LENGTH_MS = 2500

/** The first entry of each unit after a full hour two days before the start, from a healthy node. */
export const produceOldEntries = (subject: JournalSubject): readonly Draft[] => {
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
