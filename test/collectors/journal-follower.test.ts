import { expect, test } from 'vitest'
import { z } from 'zod'
import { createSavedCounts } from '../../src/collectors/shared/saved-counts.ts'
import { createJournalFollower, type FollowerReading } from '../../src/collectors/shared/journal-follower.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import type { Checkpoint } from '../../src/sources/checkpoint.ts'
import type { FollowOptions, Journal, JournalBatch } from '../../src/sources/journal.ts'
import { settle } from '../../src/core/virtual-clock.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint, recording } from './recording.ts'

const AGENT_STARTED_AT = 1_000_000
const entry = (at: number, fields: Record<string, string> = {}): JournalEntry => ({
  cursor: `s=${at}`,
  at,
  unit: 'a.service',
  message: `line ${at}`,
  fields,
})
const cut = (at: number): JournalEntry => entry(at, { _LINE_BREAK: 'line-max', _STREAM_ID: 'dead' })

/** A journal that returns these batches, one after the other, and then ends. */
const journalOfBatches = (...batches: readonly Partial<JournalBatch<JournalEntry>>[]) => {
  const requests: FollowOptions[] = []
  const journal: Journal<JournalEntry> = {
    async *follow(following) {
      requests.push(following)
      for (const batch of batches) yield await Promise.resolve({ entries: [], unreadable: 0, gap: false, ...batch })
    },
  }
  return { journal, requests }
}
const journalOf = (...lists: readonly (readonly JournalEntry[])[]) =>
  journalOfBatches(...lists.map((entries) => ({ entries })))

/** A journal that has no entry from a saved cursor on, and then these. */
const unusableJournal = (...entries: readonly JournalEntry[]) => {
  const requests: FollowOptions[] = []
  const journal: Journal<JournalEntry> = {
    async *follow(following) {
      requests.push(following)
      if ('after' in following.start) {
        await settle()
        throw new SourceError({ doing: 'resume', happened: 'ahead' }, { code: 'journal position unusable' })
      }
      yield { entries, unreadable: 0, gap: false }
    },
  }
  return { journal, requests }
}

interface FollowerOptions {
  readonly journal: Journal<JournalEntry>
  readonly checkpoint: Checkpoint
  readonly match?: () => Promise<readonly string[]>
}

const createFollower = ({ journal, checkpoint, match }: FollowerOptions) => {
  const { recorder, total } = recording()
  const read: string[] = []
  const restored: unknown[] = []
  const stop = new AbortController()
  const clock = manualClock(AGENT_STARTED_AT)
  const counts = createSavedCounts(recorder)
  const follow = createJournalFollower(
    { journal, checkpoint, recorder, counts },
    {
      timing: { interval: 1000, timeout: 500 },
      consumer: {
        service: 'x',
        match: match ?? (() => Promise.resolve(['-u', 'a.service'])),
        newest: 100,
        initialize: () => undefined,
        onEntry: ({ message }, isOld) => {
          read.push(`${message}${isOld ? ' (old)' : ''}`)
          counts.recorder.count('chain_ledger_own_timeouts_total', isOld ? 0 : 1)
        },
        snapshot: () => ({ read: read.length }),
        restore: (snapshot) => restored.push(snapshot),
      },
    },
  )
  /** Reads N batches, then stops the agent. */
  const readBatches = async (batches: number): Promise<readonly FollowerReading[]> => {
    const all: FollowerReading[] = []
    for await (const one of follow({ clock, signal: stop.signal })) {
      if (all.push(one) === batches) break
    }
    return all
  }
  return { readBatches, read, restored, total, clock, follow, stop }
}
const GAPS = 'chain_agent_journal_gaps_total{service=x}'
const COUNTED = 'chain_ledger_own_timeouts_total'

test('on the first start, entries from before the agent are old', async () => {
  const { journal, requests } = journalOf([entry(AGENT_STARTED_AT - 1), entry(AGENT_STARTED_AT)])
  const checkpoint = memoryCheckpoint()
  const { readBatches, read, total } = createFollower({ journal, checkpoint })
  expect(await readBatches(1)).toEqual([{ lastEntryAt: AGENT_STARTED_AT }])
  expect(requests).toMatchObject([{ start: { newest: 100 } }])
  expect(read).toEqual([`line ${AGENT_STARTED_AT - 1} (old)`, `line ${AGENT_STARTED_AT}`])
  expect(checkpoint.saved()).toMatchObject({ cursor: `s=${AGENT_STARTED_AT}`, memory: { read: 2 } })
  expect(total(GAPS)).toBe(0)
})

test('lines that are no entries are counted, and so is a gap before a batch', async () => {
  const { journal } = journalOfBatches({ entries: [entry(AGENT_STARTED_AT)], unreadable: 2, gap: true })
  const { readBatches, total } = createFollower({ journal, checkpoint: memoryCheckpoint() })
  await readBatches(1)
  expect(total('chain_agent_lines_total{format=journal,result=unparsed}')).toBe(2)
  expect(total(GAPS)).toBe(1)
})

test('a restarted agent resumes after the saved cursor, and has the time of the last entry', async () => {
  const checkpoint = memoryCheckpoint()
  await createFollower({ ...journalOf([entry(10)]), checkpoint }).readBatches(1)
  const { journal, requests } = journalOf([], [entry(20)])
  const second = createFollower({ journal, checkpoint })
  expect(await second.readBatches(2)).toEqual([{ lastEntryAt: 10 }, { lastEntryAt: 20 }])
  expect(requests).toMatchObject([{ start: { after: 's=10' } }])
  expect(second.read).toEqual(['line 20'])
  expect(second.restored).toEqual([{ read: 1 }])
})

test('counts are exported once they are saved with the cursor, and continue after a restart', async () => {
  const checkpoint = memoryCheckpoint()
  let write = (): void => undefined
  const slow: Checkpoint = {
    read: checkpoint.read,
    save: async (value) => {
      await new Promise<void>((resolve) => {
        write = resolve
      })
      return checkpoint.save(value)
    },
  }
  const lines = [AGENT_STARTED_AT, AGENT_STARTED_AT + 1].map((at) => entry(at))
  const first = createFollower({ ...journalOf(lines), checkpoint: slow })
  const reading = first.readBatches(1)
  await settle()
  expect(first.read).toHaveLength(2)
  expect([first.total(COUNTED), checkpoint.saved()]).toEqual([undefined, undefined])
  write()
  await reading
  expect(checkpoint.saved()).toMatchObject({ cursor: `s=${AGENT_STARTED_AT + 1}` })
  expect(first.total(COUNTED)).toBe(2)

  // Killed before it saved: the next agent reads the entry again, and counts it once.
  const killed = createFollower({
    ...journalOf([entry(AGENT_STARTED_AT + 2)]),
    checkpoint: { ...checkpoint, save: () => new Promise(() => undefined) },
  })
  void killed.readBatches(1)
  await settle()
  expect(killed.read).toHaveLength(1)
  expect(killed.total(COUNTED)).toBe(2)
  const second = createFollower({ ...journalOf([entry(AGENT_STARTED_AT + 2)]), checkpoint })
  await second.readBatches(1)
  expect(second.total(COUNTED)).toBe(3)
})

test('the first entries are saved at once, further ones 5 s after the last save, and with them all counts', async () => {
  const checkpoint = memoryCheckpoint()
  const steps: string[] = []
  const journal: Journal<JournalEntry> = {
    async *follow() {
      for (const at of [0, 1000, 4000, 20_000]) {
        if (at > 5000) await clock.advance(5000 - clock.elapsed())
        await clock.advance(at - clock.elapsed())
        yield { entries: [entry(AGENT_STARTED_AT + at)], unreadable: 0, gap: false }
      }
    },
  }
  const { readBatches, total, clock } = createFollower({
    journal,
    checkpoint: {
      ...checkpoint,
      save: async (value) => {
        const { cursor } = z.object({ cursor: z.string() }).parse(value)
        steps.push(`${clock.elapsed()}: ${cursor.slice(2)}, ${total(COUNTED) ?? 0} counted`)
        return checkpoint.save(value)
      },
    },
  })
  await readBatches(4)
  expect(steps).toEqual(['0: 1000000, 0 counted', '5000: 1004000, 1 counted', '20000: 1020000, 3 counted'])
  expect(total(COUNTED)).toBe(4)
})

test('while the disk does not answer, counts are exported after the timeout', async () => {
  const checkpoint = memoryCheckpoint()
  const hanging: Checkpoint = { ...checkpoint, save: () => new Promise(() => undefined) }
  const { readBatches, total, clock } = createFollower({ ...journalOf([entry(AGENT_STARTED_AT)]), checkpoint: hanging })
  const reading = readBatches(1)
  await settle()
  expect(total(COUNTED)).toBeUndefined()
  await clock.advance(500)
  await reading
  expect(total(COUNTED)).toBe(1)
})

/** What version 0.2.0 saved. */
const savedBy020 = (...match: readonly string[]) => {
  const counts = { version: '0.2.0', counts: [[COUNTED, 7, {}]] }
  return memoryCheckpoint({ version: 1, match, cursor: 's=10', at: 10, counts, memory: {} })
}

test('the cursor of another pattern is used; that its entry is not selected any more is no gap', async () => {
  const lines = { entries: [entry(AGENT_STARTED_AT)], gap: true }
  const { journal, requests } = journalOfBatches(lines)
  const match = () => Promise.resolve(['-u', 'a.service', '--grep=new'])
  const checkpoint = savedBy020('-u', 'a.service', '--grep=old')
  const { readBatches, read, total } = createFollower({ journal, checkpoint, match })
  await readBatches(1)
  expect(requests.map(({ start }) => start)).toEqual([{ after: 's=10' }])
  expect(read).toEqual([`line ${AGENT_STARTED_AT}`])
  expect([total(GAPS), total(COUNTED)]).toEqual([0, 8])
  await readBatches(1)
  expect(total(GAPS)).toBe(1)
})

test('that the journal has no entry for another pattern from the cursor on is no gap', async () => {
  const { journal } = unusableJournal(entry(AGENT_STARTED_AT - 1), entry(AGENT_STARTED_AT))
  const match = () => Promise.resolve(['-u', 'a.service', '--grep=new'])
  const checkpoint = savedBy020('-u', 'a.service', '--grep=old')
  const { readBatches, read, total } = createFollower({ journal, checkpoint, match })
  await expect(readBatches(1)).rejects.toThrow('ahead')
  await readBatches(1)
  expect(read).toEqual([`line ${AGENT_STARTED_AT - 1} (old)`, `line ${AGENT_STARTED_AT}`])
  expect([total(GAPS), total(COUNTED)]).toEqual([0, 8])
})

test('an incomplete line that never completes does not hold back the cursor', async () => {
  const checkpoint = memoryCheckpoint()
  const { journal } = journalOf([entry(10)], [cut(20)], [entry(30)], [entry(10_021)])
  const { readBatches, total } = createFollower({ journal, checkpoint })
  await readBatches(3)
  expect(checkpoint.saved()).toMatchObject({ cursor: 's=10' }) // while it may still be completed
  const further = createFollower({ ...journalOf([cut(20)], [entry(10_021)]), checkpoint })
  await further.readBatches(2)
  expect(checkpoint.saved()).toMatchObject({ cursor: 's=10021' })
  expect(further.total('chain_agent_lines_total{format=journal,result=unparsed}')).toBe(1)
  expect(total('chain_agent_lines_total{format=journal,result=unparsed}')).toBeUndefined()
})

test('a saved cursor that cannot be read counts as a gap, not as a first start', async () => {
  for (const found of [
    { state: 'unreadable' },
    { state: 'saved', value: { version: 1, cursor: '--output=x' } },
  ] as const) {
    const checkpoint: Checkpoint = { ...memoryCheckpoint(), read: () => Promise.resolve(found) }
    const { readBatches, total } = createFollower({ ...journalOf([entry(1)]), checkpoint })
    await readBatches(1)
    expect(total(GAPS)).toBe(1)
  }
})

test('an unusable position counts as a gap, is replaced, and lines from before are old', async () => {
  const checkpoint = memoryCheckpoint()
  await createFollower({ ...journalOf([entry(AGENT_STARTED_AT + 7)]), checkpoint }).readBatches(1)
  const { journal, requests } = unusableJournal(entry(AGENT_STARTED_AT - 1), entry(AGENT_STARTED_AT))
  const { readBatches, read, total } = createFollower({ journal, checkpoint })
  // The reason is the error of the collector, which is started again.
  await expect(readBatches(1)).rejects.toThrow('ahead')
  expect(total(GAPS)).toBe(1)
  await readBatches(1)
  expect(requests.map(({ start }) => start)).toEqual([{ after: `s=${AGENT_STARTED_AT + 7}` }, { newest: 100 }])
  expect(read).toEqual([`line ${AGENT_STARTED_AT - 1} (old)`, `line ${AGENT_STARTED_AT}`])
  expect([total(GAPS), total('chain_agent_journal_restarts_total{service=x}')]).toEqual([1, 1])
  expect(checkpoint.saved()).toMatchObject({ cursor: `s=${AGENT_STARTED_AT}` })
})

test('the time of an entry that is later than now is unknown', async () => {
  const tenDays = 864_000_000
  const { journal } = journalOf([entry(AGENT_STARTED_AT + tenDays)], [entry(AGENT_STARTED_AT)])
  const { readBatches } = createFollower({ journal, checkpoint: memoryCheckpoint() })
  expect(await readBatches(2)).toEqual([{ lastEntryAt: null }, { lastEntryAt: AGENT_STARTED_AT }])
})

test('with other matches the snapshot is restored, and the unused cursor counts as a gap', async () => {
  const checkpoint = memoryCheckpoint()
  await createFollower({ ...journalOf([entry(10)]), checkpoint }).readBatches(1)
  const { journal, requests } = journalOf([entry(20)])
  const match = (): Promise<readonly string[]> => Promise.resolve(['-u', 'b.service'])
  const other = createFollower({ journal, checkpoint, match })
  await other.readBatches(1)
  expect(requests).toMatchObject([{ start: { newest: 100 }, match: ['-u', 'b.service'] }])
  expect(other.restored).toEqual([{ read: 1 }])
  expect(other.total(GAPS)).toBe(1)
})

test('a name prefix found after the start of the agent: the saved cursor is used', async () => {
  const checkpoint = memoryCheckpoint()
  await createFollower({ ...journalOf([entry(10)]), checkpoint }).readBatches(1)
  const answers = [['-u', 'unknown.service']]
  const match = (): Promise<readonly string[]> => Promise.resolve(answers.shift() ?? ['-u', 'a.service'])
  const { journal, requests } = journalOf([], [entry(20)])
  const { readBatches, read } = createFollower({ journal, checkpoint, match })
  await readBatches(3)
  expect(requests.map(({ start }) => start)).toEqual([{ newest: 100 }, { after: 's=10' }])
  expect(read).toEqual(['line 20'])
})

test('resolving the unit names times out', async () => {
  const match = (): Promise<never> => new Promise(() => undefined)
  const { follow, clock, stop } = createFollower({ ...journalOf(), checkpoint: memoryCheckpoint(), match })
  const failure = follow({ clock, signal: stop.signal })
    .next()
    .catch((thrown: unknown) => thrown)
  await clock.advance(500)
  expect(await failure).toMatchObject({ timeout: true })
})
