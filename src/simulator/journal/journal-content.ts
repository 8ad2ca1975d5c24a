import type { Validator } from '../chain/validators.ts'
import { drift } from '../drift.ts'
import { createCleanupEntries } from './cleanup-entries.ts'
import { createConsensusEntries } from './consensus-entries.ts'
import { createExecutionEntries } from './execution-entries.ts'
import { createLedgerTail } from './ledger-tail.ts'
import { lifecycleEntries } from './lifecycle-entries.ts'
import type { Draft } from './journal.ts'
import { serviceEntry } from './service-entry.ts'
import { spokenEntries } from './spoken-entries.ts'
import type { Chain } from '../chain/chain.ts'
import type { Heights } from '../heights.ts'
import type { Timeline } from '../scenario/timeline.ts'

export interface JournalSubject {
  readonly node: string
  readonly prefix: string
  readonly own: Validator
  readonly chain: Chain
  readonly timeline: Timeline
  readonly heights: Heights
}

/** All that a node and its systemd write into the journal, stretch of time by stretch of time. */
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
        drafts.push(...spokenEntries(subject, change), ...lifecycleEntries(subject, change))
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
