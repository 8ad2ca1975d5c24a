import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type JournalEntry, parseJournalEntry } from '../../src/parsers/journal.ts'
import type { Exec, Program } from '../../src/sources/exec.ts'
import { createOldestEntryReader } from '../../src/sources/journal.ts'
import { createJournalRangeReader, createSnapshotJournal, type JournalRange } from '../../src/sources/journal-range.ts'
import { describeStep } from '../../src/sources/journal-order.ts'
import { fakeJournalctl } from '../support/fake-journalctl.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type SteppedEntry, steppedFiles } from '../support/stepped-journal.ts'

const timeAt = (time: string): number => Date.parse(`2026-11-24T${time}Z`)
const timeOf = (entry: JournalEntry | undefined): string | undefined =>
  entry && new Date(entry.at).toISOString().slice(11, 19)

const read = async (range: Partial<JournalRange>, files: readonly (readonly SteppedEntry[])[] = steppedFiles()) => {
  const { exec, calls } = fakeJournalctl(files)
  const entries: JournalEntry[] = []
  const steps: string[] = []
  const batches = createJournalRangeReader({ exec, parse: parseJournalEntry })({ match: [], ...range }, NEVER)
  for await (const batch of batches) {
    entries.push(...batch.entries)
    steps.push(...(batch.steps ?? []).map(describeStep))
  }
  return { entries, steps, calls, span: [entries.length, timeOf(entries[0]), timeOf(entries.at(-1))] }
}
const NEVER = new AbortController().signal
const BACK = 'the clock of this host went back 40 min: 2026-11-24T10:09:55Z was followed by 2026-11-24T09:30:00Z'
const FORWARD = 'the clock of this host went forward 40 min: 2026-11-24T09:49:55Z was followed by 2026-11-24T10:30:00Z'

describe('a range after whose start the clock went back', () => {
  test('has the 25 entries of two minutes and the assertion, and the step before them', async () => {
    const { span, entries, steps } = await read({ since: timeAt('09:39:00'), until: timeAt('09:41:00') })
    expect(span).toEqual([26, '09:39:00', '09:41:00'])
    expect(entries.filter(({ message }) => message?.includes('Assertion'))).toHaveLength(1)
    expect(steps).toEqual([BACK])
  })

  test('has those that match a pattern', async () => {
    const { span, steps } = await read({
      match: ['--grep=Assertion'],
      since: timeAt('09:39:00'),
      until: timeAt('09:41:00'),
    })
    expect(span).toEqual([1, '09:40:00', '09:40:00'])
    expect(steps).toEqual([BACK])
  })

  test('has all entries in the order in which they were written, and both steps', async () => {
    const { span, steps } = await read({ since: timeAt('09:00:00'), until: timeAt('11:00:00') })
    expect(span).toEqual([481, '10:00:00', '10:39:55'])
    expect(steps).toEqual([BACK, FORWARD])
  })

  // 10:05:00 to 10:09:55 has 60 entries, 10:30:00 to 10:35:00 has 61.
  test('has the entries before and after the time in which the clock was behind', async () => {
    expect((await read({ since: timeAt('10:05:00'), until: timeAt('10:35:00') })).span).toEqual([
      121,
      '10:05:00',
      '10:35:00',
    ])
  })

  test('reads no more than the entries up to the last one of the range', async () => {
    const { entries, calls } = await read({ since: timeAt('09:39:00'), until: timeAt('09:41:00') })
    const [begin] = entries
    expect(calls.at(-1)).toContain(`--cursor=${begin?.cursor}`)
    expect(calls).toHaveLength(6)
  })
})

describe('the newest entries of a range', () => {
  test('are read backwards, to their number', async () => {
    const { span, calls } = await read({ since: timeAt('09:39:00'), until: timeAt('09:41:00'), newest: 10 })
    expect(span).toEqual([10, '09:40:15', '09:41:00'])
    expect(calls).toHaveLength(2)
  })

  test('include those from before the clock went back', async () => {
    expect((await read({ since: timeAt('10:05:00'), newest: 10_000 })).span).toEqual([180, '10:05:00', '10:39:55'])
    expect((await read({ since: timeAt('10:05:00'), until: timeAt('10:35:00'), newest: 70 })).span).toEqual([
      70,
      '10:09:15',
      '10:35:00',
    ])
  })
})

describe('a journal whose clock never went back', () => {
  const steady = [steppedFiles()[0] ?? []]

  test('is read once, and checked with two short runs', async () => {
    const { span, steps, calls } = await read({ since: timeAt('10:01:00'), until: timeAt('10:02:00') }, steady)
    expect(span).toEqual([13, '10:01:00', '10:02:00'])
    expect(steps).toEqual([])
    expect(calls.filter((args) => args.some((word) => word.startsWith('--output-fields=PRIORITY')))).toHaveLength(2)
    expect(calls).toHaveLength(4)
  })

  test('without an end of the range needs no check', async () => {
    expect((await read({ since: timeAt('10:01:00') }, steady)).calls).toHaveLength(2)
  })

  test('has no entry in an empty range', async () => {
    expect((await read({ since: timeAt('08:00:00'), until: timeAt('08:10:00') }, steady)).span).toEqual([
      0,
      undefined,
      undefined,
    ])
  })
})

// A clock that a host had for some seconds after its last boot must not make each range a read of everything.
test('entries of a later boot with an earlier clock do not extend a range in which they are not', async () => {
  const [first = [], second = []] = steppedFiles()
  const { span, steps, calls } = await read({ since: timeAt('10:01:00'), until: timeAt('10:02:00') }, [
    first,
    second.slice(0, 60),
  ])
  expect(span).toEqual([13, '10:01:00', '10:02:00'])
  expect(steps).toEqual([])
  expect(calls).toHaveLength(4)
})

/** The oldest entry by the output of journalctl. */
const askOldest = async (chunks: readonly string[]) => {
  const calls: Program[] = []
  let ended = false
  const exec: Exec = {
    run: () => Promise.reject(new Error('not this way')),
    async *stream(program) {
      calls.push(program)
      try {
        for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk))
        throw new Error('exit code 0')
      } finally {
        ended = true
      }
    },
    killAll: () => undefined,
  }
  const readOldest = createOldestEntryReader({ exec, parse: (text) => text })
  const found = await readOldest(['-u', 'a.service'], NEVER).catch(String)
  return { found, calls, ended }
}

test('the oldest entry is the first line, however it comes, and ends journalctl', async () => {
  const { found, calls, ended } = await askOldest(['{"fir', 'st"}\n{"sec', 'ond"}\n'])
  expect([found, ended]).toEqual(['{"first"}', true])
  expect(calls).toEqual([
    {
      command: 'journalctl',
      answers: [0],
      args: ['--merge', '-o', 'json', '--output-fields=PRIORITY', '-u', 'a.service'],
    },
  ])
})

test('without an oldest entry it fails', async () => {
  expect((await askOldest([])).found).toBe('Error: exit code 0')
})

const NOW = 1_000_000
const TEN_DAYS_AHEAD = NOW + 864_000_000
const line = (at: number): string => `${JSON.stringify({ cursor: `s=${at}`, at })}\n`
const parse = (text: string) => z.object({ cursor: z.string(), at: z.number() }).parse(JSON.parse(text))

/** The times of the entries that a command reads, newest last, when the newest of the current boot is `ofThisBoot`. */
const timesRead = async (ofThisBoot: number) => {
  const exec: Exec = {
    run: ({ args }) => {
      const newest = args.includes('--boot') ? ofThisBoot : TEN_DAYS_AHEAD
      return Promise.resolve({ exitCode: 0, stdout: line(newest), stderr: '' })
    },
    // In reverse, as journalctl prints the newest entries.
    async *stream() {
      yield await Promise.resolve(Buffer.from(line(TEN_DAYS_AHEAD) + line(NOW - 10)))
    },
    killAll: () => undefined,
  }
  const context = { clock: manualClock(NOW), signal: NEVER }
  const following = { match: ['-u', 'x'], start: { newest: 100 }, interval: 1000, timeout: 500 }
  for await (const { entries } of createSnapshotJournal({ exec, parse }).follow(following, context)) {
    return entries.map(({ at }) => at)
  }
  return []
}

test('entries later than now are read if they are of this boot, from before the clock went back', async () => {
  expect(await timesRead(NOW - 10)).toEqual([NOW - 10])
  expect(await timesRead(TEN_DAYS_AHEAD)).toEqual([NOW - 10, TEN_DAYS_AHEAD])
})
