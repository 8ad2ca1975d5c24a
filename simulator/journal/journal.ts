import { digest } from '../chain.ts'
import type { Draft, Entry, Journal, JournalAccess } from './entry.ts'
import type { Pace } from '../pace.ts'
import type { NodeSubject } from '../subject.ts'
import { directiveTable, duration, setIn, settingOf } from '../scenario/directives.ts'
import { invocationOf, pidOf, type Service, unitOf } from '../services/service.ts'
import { widen } from '../../src/core/widen.ts'

/** Whether and how far back the journal can be read. */
export const usualJournal = {
  access: widen<JournalAccess>('open'),
  /** How much of the past is kept, in milliseconds; undefined for as much as there is room for. */
  keptMs: widen<number | undefined>(undefined),
}

const changeJournal = setIn('journal')

export const journalDirectives = directiveTable({
  'journal freezes': [
    'readers of the journal receive no more entries and wait; the node keeps writing',
    changeJournal({ access: 'frozen' }),
  ],
  'journal thaws': ['readers receive the entries written in the meantime', changeJournal({ access: 'open' })],
  'journal forbids': ['journalctl fails, as for a user outside of its group', changeJournal({ access: 'forbidden' })],
  'journal allows': ['journalctl can read again', changeJournal({ access: 'open' })],
  'journal keeps': ['entries older than that are removed', settingOf('journal', 'keptMs', duration)],
})

interface JournalContent {
  readonly now: () => number
  /** The entries after `fromMs` and up to `toMs`, in order. */
  readonly produce: (fromMs: number, toMs: number) => Iterable<Draft>
  /** A few entries from days before, in order: they show how far back the journal reaches. */
  readonly produceOld: () => readonly Draft[]
}

export const createJournal = (
  { name, timeline }: Pick<NodeSubject, 'name' | 'timeline'>,
  { keptEntries, pastMs, spanMs }: Pace,
  { now, produce, produceOld }: JournalContent,
): Journal => {
  const beginMs = timeline.beginMs - pastMs
  const state = () => timeline.conditionAt(now()).journal
  const bootId = digest(name, 'boot').slice(0, 32)
  const sequence = digest(name, 'journal', beginMs).slice(0, 32)
  const bootMs = beginMs - UPTIME_MS
  let entries: Entry[] = []
  let oldEntries: readonly Entry[] | undefined
  let writtenMs = beginMs
  let nextNumber = OLD_ENTRY_NUMBERS + 1
  let lastUs = 0

  const entryOf = (number: number, realtimeUs: number, { fields }: Pick<Draft, 'fields'>): Entry => {
    const monotonicUs = realtimeUs - bootMs * 1000
    const check = hex(Math.imul(number, 0x9e3779b1) >>> 0).padStart(16, sequence)
    const cursor = `s=${sequence};i=${hex(number)};b=${bootId};m=${hex(monotonicUs)};t=${hex(realtimeUs)};x=${check}`
    return { number, cursor, realtimeUs, monotonicUs, fields }
  }

  const append = (draft: Draft): void => {
    // Each entry has a microsecond of its own: a cursor can be found by its time.
    lastUs = Math.max(draft.atMs * 1000, lastUs + 1)
    entries.push(entryOf(nextNumber, lastUs, draft))
    nextNumber += 1
  }

  const write = (): void => {
    const toMs = now()
    writtenMs = Math.max(writtenMs, toMs - spanMs)
    // In batches: after a long time without a read, memory stays near what is kept.
    while (writtenMs < toMs) {
      const batchEndMs = Math.min(writtenMs + BATCH_MS, toMs)
      for (const draft of produce(writtenMs, batchEndMs)) append(draft)
      writtenMs = batchEndMs
      if (entries.length > keptEntries) entries = entries.slice(-keptEntries)
    }
    const { keptMs } = state()
    if (keptMs === undefined) return
    const oldestUs = (toMs - keptMs) * 1000
    const first = entries.findIndex(({ realtimeUs }) => realtimeUs >= oldestUs)
    entries = first < 0 ? [] : entries.slice(first)
    // What is kept reaches back further than memory does: the oldest entries of a full journal are always that old.
    oldEntries =
      first === 0
        ? getOldEntries().map((entry, index) => entryOf(index + 1, Math.max(entry.realtimeUs, oldestUs + index), entry))
        : getOldEntries().filter(({ realtimeUs }) => realtimeUs >= oldestUs)
  }

  /** Lazy: most tests and commands never read them. */
  const getOldEntries = (): readonly Entry[] =>
    (oldEntries ??= produceOld().map((draft, index) => entryOf(index + 1, draft.atMs * 1000 + index, draft)))

  return {
    bootId,
    access: () => state().access,
    read: (from) => {
      write()
      const oldest = entries[0]?.number ?? nextNumber
      return entries.slice(Math.max(0, from - oldest))
    },
    oldest: () => {
      write()
      return getOldEntries()
    },
    seek: (cursor) => {
      write()
      const parts = /^s=([0-9a-f]{32});i=([0-9a-f]+);.*\bt=([0-9a-f]+)/.exec(cursor)
      if (!parts) return undefined
      const [, of, number = '', time = ''] = parts
      if (of === sequence) return Number.parseInt(number, 16)
      const realtimeUs = Number.parseInt(time, 16)
      return entries.find((entry) => entry.realtimeUs >= realtimeUs)?.number ?? nextNumber
    },
  }
}

const BATCH_MS = 5000
/** Numbers reserved for the entries from days before. */
const OLD_ENTRY_NUMBERS = 1000
const UPTIME_MS = 13 * 24 * 3_600_000

const hex = (number: number): string => number.toString(16)

interface OutputLine {
  readonly atMs: number
  readonly text: string
  readonly program: string
}

/** The journal entry for a line that a service writes to standard output or error. */
export const serviceEntry = (subject: NodeSubject, service: Service, line: OutputLine): Draft =>
  runEntry(runOf(subject, service), line)

interface Run {
  readonly unit: string
  readonly pid: number
  readonly invocation: string
}

/** Cached per run of a service: the digests cost more than the lines. Nodes do not share Service objects. */
const runs = new WeakMap<Service, Run>()

const runOf = ({ name, prefix }: NodeSubject, service: Service): Run => {
  const known = runs.get(service)
  if (known) return known
  const run = { unit: unitOf(prefix, service.role), pid: pidOf(service), invocation: invocationOf(name, service) }
  runs.set(service, run)
  return run
}

/** The journal entry for a line of any run of any unit. */
export const runEntry = ({ unit, pid, invocation }: Run, { atMs, text, program }: OutputLine): Draft => ({
  atMs,
  fields: {
    MESSAGE: text,
    PRIORITY: '6',
    SYSLOG_IDENTIFIER: program,
    SYSLOG_FACILITY: '3',
    _PID: String(pid),
    _COMM: program.slice(0, 15),
    _SYSTEMD_UNIT: unit,
    _SYSTEMD_INVOCATION_ID: invocation,
    _TRANSPORT: 'stdout',
  },
})

/** The entry of journald itself when it accepts messages of the unit again. */
export const suppressedEntry = (unit: string, atMs: number, dropped: number): Draft => ({
  atMs,
  fields: {
    MESSAGE: `Suppressed ${dropped} messages from ${unit}`,
    MESSAGE_ID: 'a596d6fe7bfa4994828e72309e95d61e',
    PRIORITY: '6',
    N_DROPPED: String(dropped),
    OBJECT_SYSTEMD_UNIT: unit,
    SYSLOG_IDENTIFIER: 'systemd-journald',
    SYSLOG_FACILITY: '3',
    _PID: '412',
    _UID: '0',
    _COMM: 'systemd-journal',
    _SYSTEMD_UNIT: 'systemd-journald.service',
    _TRANSPORT: 'driver',
  },
})

/** journald's defaults are 10,000 messages in 30 s, times six where a terabyte of disk is free. */
const BURST = 60_000
const INTERVAL_MS = 30_000

/** Returns the number of messages dropped before this one; undefined if this one is dropped, too. */
type RateLimit = (atMs: number) => number | undefined

/** The rate limit of journald for one service. */
export const createRateLimit = (): RateLimit => {
  let beganMs = -Infinity
  let taken = 0
  let dropped = 0
  return (atMs) => {
    if (atMs - beganMs >= INTERVAL_MS) {
      const before = dropped
      beganMs = atMs
      taken = 1
      dropped = 0
      return before
    }
    if (taken < BURST) {
      taken += 1
      return 0
    }
    dropped += 1
    return undefined
  }
}
