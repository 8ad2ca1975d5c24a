import { drift } from '../drift.ts'
import { unitOf } from '../scenario/service.ts'
import { createConsensusLog, type ConsensusSubject } from './consensus-log.ts'
import type { Draft } from './journal.ts'
import { type LogLine, renderLogLine } from './log-line.ts'
import { createLogFlood } from './log-noise.ts'
import { createRateLimit } from './rate-limit.ts'
import { serviceEntry, suppressedEntry } from './service-entry.ts'
import { createSteadyTroubles } from './spoken-entries.ts'
import { createStatesyncLog } from './statesync-log.ts'
import { installedVersion } from '../scenario/versions.ts'

interface Subject extends ConsensusSubject {
  readonly node: string
  readonly prefix: string
}

/** All that the consensus process writes into the journal, as far as journald takes it. */
export const createConsensusEntries = (subject: Subject) => {
  const { prefix, chain, timeline } = subject
  const sources = [
    createStatesyncLog(chain, timeline),
    createConsensusLog(subject),
    createLogFlood(timeline),
    createSteadyTroubles(timeline),
  ]
  const rateLimit = createRateLimit()
  const program = `${prefix}-node`

  /** Lines of one process in order of time, of the levels that it writes. */
  const linesOf = (fromMs: number, toMs: number): readonly LogLine[] =>
    [
      ...starts(subject).filter(({ atMs }) => atMs > fromMs && atMs <= toMs),
      ...sources.flatMap((source) => [...source(fromMs, toMs)]),
    ]
      .filter(({ atMs, level }) => level !== 'DEBUG' || writesDebug(atMs))
      .toSorted((a, b) => a.atMs - b.atMs)

  const writesDebug = (atMs: number): boolean => timeline.conditionAt(atMs).log.level === 'DEBUG'

  return function* (fromMs: number, toMs: number): Generator<Draft> {
    for (const line of linesOf(fromMs, toMs)) {
      const { atMs } = line
      const dropped = rateLimit(atMs)
      if (dropped === undefined) continue
      if (dropped > 0) yield suppressedEntry(unitOf(prefix, 'bft'), atMs, dropped)
      const { services, formatsDrift } = timeline.conditionAt(atMs)
      const plain = renderLogLine(prefix, line)
      const text = formatsDrift ? drift.consensusLog(plain) : plain
      yield serviceEntry(subject, services.bft, { atMs, text, program })
    }
    for (const { atMs, after } of timeline.changes) {
      const { exit } = after.services.bft
      if (atMs <= fromMs || atMs > toMs || exit?.atMs !== atMs || !exit.panicked) continue
      for (const text of PANIC)
        yield serviceEntry(subject, after.services.bft, { atMs, text, program })
    }
  }
}

const starts = ({ timeline, prefix }: Subject): readonly LogLine[] =>
  timeline.changes
    .filter(({ before, after }) => before.services.bft.generation !== after.services.bft.generation)
    .map(({ atMs, after }) => ({
      atMs,
      level: 'INFO',
      target: 'node',
      message: `starting ${prefix}-bft with version ${installedVersion(after.versions)}`,
    }))

const PANIC = [
  "thread 'main' panicked at consensus-state/src/lib.rs:412:17:",
  'high qc too far ahead of block tree root, restart client and statesync. highqc: QC { .. }, block-tree root RootInfo { .. }',
  'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
]
