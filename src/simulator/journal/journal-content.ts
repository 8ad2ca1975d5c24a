import type { Validator } from '../chain/validators.ts'
import { drift } from '../drift.ts'
import { createConsensusEntries } from './consensus-entries.ts'
import { createLedgerTail } from './ledger-tail.ts'
import { lifecycleEntries, ONESHOT_MS, oneshotEntries } from './lifecycle-entries.ts'
import type { Draft } from './journal.ts'
import { serviceEntry } from './service-entry.ts'
import type { Chain } from '../chain/chain.ts'
import type { Heights } from '../heights.ts'
import { digest } from '../chain/random.ts'
import type { Timeline } from '../scenario/timeline.ts'

interface Subject {
  readonly node: string
  readonly prefix: string
  readonly version: string
  readonly own: Validator
  readonly chain: Chain
  readonly timeline: Timeline
  readonly heights: Heights
}

const HOUR_MS = 3_600_000

/** All that a node and its systemd write into the journal, stretch of time by stretch of time. */
export const createJournalContent = (subject: Subject) => {
  const { node, prefix, chain, timeline, heights } = subject
  const ledgerTail = createLedgerTail(chain, timeline, heights)
  const consensus = createConsensusEntries(subject)
  return (fromMs: number, toMs: number): readonly Draft[] => {
    const drafts: Draft[] = [...consensus(fromMs, toMs)]
    for (const { atMs, text } of ledgerTail(fromMs, toMs)) {
      drafts.push(ledgerEntry(subject, atMs, text))
    }
    for (const change of timeline.changes) {
      if (change.atMs > fromMs && change.atMs <= toMs)
        drafts.push(...lifecycleEntries(subject, change))
    }
    // The hours whose clean-up, which takes a moment, reaches into the stretch.
    const firstHour = Math.floor((fromMs - ONESHOT_MS) / HOUR_MS)
    for (let hour = firstHour; hour * HOUR_MS <= toMs; hour += 1) {
      const invocation = digest(node, 'invocation', 'cruft', hour).slice(0, 32)
      for (const draft of oneshotEntries(`${prefix}-cruft.service`, invocation, hour * HOUR_MS)) {
        if (draft.atMs > fromMs && draft.atMs <= toMs) drafts.push(draft)
      }
    }
    return drafts.toSorted((a, b) => a.atMs - b.atMs)
  }
}

const ledgerEntry = (subject: Subject, atMs: number, plain: string): Draft => {
  const { services, formatsDrift } = subject.timeline.conditionAt(atMs)
  const text = formatsDrift ? drift.ledgerTail(plain) : plain
  const program = `${subject.prefix}-ledger-tail`
  return serviceEntry(subject, services['ledger-tail'], { atMs, text, program })
}
