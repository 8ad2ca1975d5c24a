import { createLedgerTail } from './ledger-tail.ts'
import { lifecycleEntries, ONESHOT_MS, oneshotEntries } from './lifecycle-entries.ts'
import type { Draft } from './journal.ts'
import type { Chain } from '../chain/chain.ts'
import type { Heights } from '../heights.ts'
import { digest } from '../chain/random.ts'
import { invocationOf, pidOf, unitOf } from '../scenario/service.ts'
import type { Timeline } from '../scenario/timeline.ts'

interface Subject {
  readonly node: string
  readonly prefix: string
  readonly chain: Chain
  readonly timeline: Timeline
  readonly heights: Heights
}

const HOUR_MS = 3_600_000

/** All that a node and its systemd write into the journal, stretch of time by stretch of time. */
export const createJournalContent = (subject: Subject) => {
  const { node, prefix, chain, timeline, heights } = subject
  const ledgerTail = createLedgerTail(chain, timeline, heights)
  return (fromMs: number, toMs: number): readonly Draft[] => {
    const drafts: Draft[] = []
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

const ledgerEntry = ({ node, prefix, timeline }: Subject, atMs: number, text: string): Draft => {
  const service = timeline.conditionAt(atMs).services['ledger-tail']
  const unit = unitOf(prefix, 'ledger-tail')
  return {
    atMs,
    fields: {
      MESSAGE: text,
      PRIORITY: '6',
      SYSLOG_IDENTIFIER: `${prefix}-ledger-tail`,
      SYSLOG_FACILITY: '3',
      _PID: String(pidOf(service)),
      _COMM: `${prefix}-ledger-tai`.slice(0, 15),
      _SYSTEMD_UNIT: unit,
      _SYSTEMD_INVOCATION_ID: invocationOf(node, service),
      _TRANSPORT: 'stdout',
    },
  }
}
