import { expect, test } from 'vitest'
import { createJournalFollower, type Heard } from '../../src/collectors/shared/journal-follower.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import type { Checkpoint, Found } from '../../src/sources/checkpoint.ts'
import type { FollowOptions, Journal } from '../../src/sources/journal.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'

const AGENT_BEGINS = 1_000_000
const entry = (at: number, fields: Record<string, string> = {}): JournalEntry => ({
  cursor: `s=${at}`,
  at,
  unit: 'a.service',
  message: `line ${at}`,
  fields,
})
const cut = (at: number): JournalEntry => entry(at, { _LINE_BREAK: 'line-max', _STREAM_ID: 'dead' })

/** A journal that gives these batches, one after the other, and then ends. */
const journalOf = (...batches: readonly (readonly JournalEntry[])[]) => {
  const asked: FollowOptions[] = []
  const journal: Journal<JournalEntry> = {
    async *follow(following) {
      asked.push(following)
      for (const entries of batches) {
        yield await Promise.resolve({ entries, unreadable: 0, gap: false })
      }
    },
  }
  return { journal, asked }
}

const keeper = (found: Found = { state: 'none' }) => {
  let kept: unknown
  const checkpoint: Checkpoint = {
    read: () => Promise.resolve(kept === undefined ? found : { state: 'saved', value: kept }),
    save: (value) => {
      kept = value
    },
  }
  return { checkpoint, kept: () => kept }
}

interface World {
  readonly journal: Journal<JournalEntry>
  readonly checkpoint: Checkpoint
  readonly match?: () => Promise<readonly string[]>
}

const world = ({ journal, checkpoint, match }: World) => {
  const { recorder, total } = recording()
  const heard: string[] = []
  const restored: unknown[] = []
  const stop = new AbortController()
  const clock = manualClock(AGENT_BEGINS)
  const follow = createJournalFollower(
    { journal, checkpoint, recorder },
    {
      timing: { interval: 1000, timeout: 500 },
      listener: {
        service: 'x',
        match: match ?? (() => Promise.resolve(['-u', 'a.service'])),
        newest: 100,
        begin: () => undefined,
        on: ({ message }, isOld) => heard.push(`${message}${isOld ? ' (old)' : ''}`),
        memory: () => ({ heard: heard.length }),
        restore: (memory) => restored.push(memory),
      },
    },
  )
  /** Takes so many batches, then ends the agent. */
  const listen = async (batches: number): Promise<readonly Heard[]> => {
    const all: Heard[] = []
    for await (const one of follow({ clock, signal: stop.signal })) {
      if (all.push(one) === batches) break
    }
    return all
  }
  return { listen, heard, restored, total, clock, follow, stop }
}
const GAPS = 'chain_agent_journal_gaps_total{service=x}'

test('at the very first start the past explains and is not counted', async () => {
  const { journal, asked } = journalOf([entry(AGENT_BEGINS - 1), entry(AGENT_BEGINS)])
  const { checkpoint, kept } = keeper()
  const { listen, heard, total } = world({ journal, checkpoint })
  expect(await listen(1)).toEqual([{ lastEntryAt: AGENT_BEGINS }])
  expect(asked).toMatchObject([{ start: { newest: 100 } }])
  expect(heard).toEqual([`line ${AGENT_BEGINS - 1} (old)`, `line ${AGENT_BEGINS}`])
  expect(kept()).toMatchObject({ cursor: `s=${AGENT_BEGINS}`, memory: { heard: 2 } })
  expect(total(GAPS)).toBe(0)
})

test('a second agent goes on after the place, counts what came in between, and knows its age', async () => {
  const { checkpoint } = keeper()
  await world({ ...journalOf([entry(10)]), checkpoint }).listen(1)
  const { journal, asked } = journalOf([], [entry(20)])
  const second = world({ journal, checkpoint })
  expect(await second.listen(2)).toEqual([{ lastEntryAt: 10 }, { lastEntryAt: 20 }])
  expect(asked).toMatchObject([{ start: { after: 's=10' } }])
  expect(second.heard).toEqual(['line 20'])
  expect(second.restored).toEqual([{ heard: 1 }])
})

test('a cut line that never ends does not keep the place back', async () => {
  const { checkpoint, kept } = keeper()
  const { journal } = journalOf([entry(10)], [cut(20)], [entry(30)], [entry(10_021)])
  const { listen, total } = world({ journal, checkpoint })
  await listen(3)
  expect(kept()).toMatchObject({ cursor: 's=10' }) // while it may still end
  const further = world({ ...journalOf([cut(20)], [entry(10_021)]), checkpoint })
  await further.listen(2)
  expect(kept()).toMatchObject({ cursor: 's=10021' })
  expect(further.total('chain_agent_lines_total{format=journal,result=unparsed}')).toBe(1)
  expect(total('chain_agent_lines_total{format=journal,result=unparsed}')).toBeUndefined()
})

test('a place that cannot be read is a gap, not a first start in silence', async () => {
  for (const found of [
    { state: 'unreadable' },
    { state: 'saved', value: { version: 1, cursor: '--output=x' } },
  ] as const) {
    const { listen, total } = world({ ...journalOf([entry(1)]), ...keeper(found) })
    await listen(1)
    expect(total(GAPS)).toBe(1)
  }
})

test('under another match the memory stays, and the place that is given up is a gap', async () => {
  const { checkpoint } = keeper()
  await world({ ...journalOf([entry(10)]), checkpoint }).listen(1)
  const { journal, asked } = journalOf([entry(20)])
  const match = (): Promise<readonly string[]> => Promise.resolve(['-u', 'b.service'])
  const other = world({ journal, checkpoint, match })
  await other.listen(1)
  expect(asked).toMatchObject([{ start: { newest: 100 }, match: ['-u', 'b.service'] }])
  expect(other.restored).toEqual([{ heard: 1 }])
  expect(other.total(GAPS)).toBe(1)
})

test('the maker comes later than the agent: the place of before is taken up again', async () => {
  const { checkpoint } = keeper()
  await world({ ...journalOf([entry(10)]), checkpoint }).listen(1)
  const answers = [['-u', 'unknown.service']]
  const match = (): Promise<readonly string[]> =>
    Promise.resolve(answers.shift() ?? ['-u', 'a.service'])
  const { journal, asked } = journalOf([], [entry(20)])
  const { listen, heard } = world({ journal, checkpoint, match })
  await listen(3)
  expect(asked.map(({ start }) => start)).toEqual([{ newest: 100 }, { after: 's=10' }])
  expect(heard).toEqual(['line 20'])
})

test('whoever should name the units and hangs is not waited for', async () => {
  const match = (): Promise<never> => new Promise(() => undefined)
  const { follow, clock, stop } = world({ ...journalOf(), ...keeper(), match })
  const failure = follow({ clock, signal: stop.signal })
    .next()
    .catch((thrown: unknown) => thrown)
  await clock.advance(500)
  expect(await failure).toMatchObject({ timeout: true })
})
