import { describe, expect, test } from 'vitest'
import { type JournalEntry, parseJournalEntry } from '../../src/parsers/journal.ts'
import { createJournalRangeReader, type JournalRange } from '../../src/sources/journal-range.ts'
import { describeStep } from '../../src/sources/journal-order.ts'
import { fakeJournalctl, printEntries } from '../support/fake-journalctl.ts'
import { type SteppedEntry, steppedFiles } from '../support/stepped-journal.ts'

const at = (time: string): number => Date.parse(`2026-11-24T${time}Z`)
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

test('journalctl stops at the first entry after the range, which comes before those inside it', () => {
  const range = ['--since=@1795513140', '--until=@1795513260']
  expect(printEntries(steppedFiles(), range)).toEqual([])
})

describe('a range after whose start the clock went back', () => {
  test('has the 25 entries of two minutes and the assertion, and the step before them', async () => {
    const { span, entries, steps } = await read({ since: at('09:39:00'), until: at('09:41:00') })
    expect(span).toEqual([26, '09:39:00', '09:41:00'])
    expect(entries.filter(({ message }) => message?.includes('Assertion'))).toHaveLength(1)
    expect(steps).toEqual([BACK])
  })

  test('has those that match a pattern', async () => {
    const { span, steps } = await read({
      match: ['--grep=Assertion'],
      since: at('09:39:00'),
      until: at('09:41:00'),
    })
    expect(span).toEqual([1, '09:40:00', '09:40:00'])
    expect(steps).toEqual([BACK])
  })

  test('has all entries in the order in which they were written, and both steps', async () => {
    const { span, steps } = await read({ since: at('09:00:00'), until: at('11:00:00') })
    expect(span).toEqual([481, '10:00:00', '10:39:55'])
    expect(steps).toEqual([BACK, FORWARD])
  })

  // 10:05:00 to 10:09:55 has 60 entries, 10:30:00 to 10:35:00 has 61.
  test('has the entries before and after the time in which the clock was behind', async () => {
    expect((await read({ since: at('10:05:00'), until: at('10:35:00') })).span).toEqual([121, '10:05:00', '10:35:00'])
  })

  test('reads no more than the entries up to the last one of the range', async () => {
    const { entries, calls } = await read({ since: at('09:39:00'), until: at('09:41:00') })
    const [begin] = entries
    expect(calls.at(-1)).toContain(`--cursor=${begin?.cursor}`)
    expect(calls).toHaveLength(6)
  })
})

describe('the newest entries of a range', () => {
  test('are read backwards, to their number', async () => {
    const { span, calls } = await read({ since: at('09:39:00'), until: at('09:41:00'), newest: 10 })
    expect(span).toEqual([10, '09:40:15', '09:41:00'])
    expect(calls).toHaveLength(2)
  })

  test('include those from before the clock went back', async () => {
    expect((await read({ since: at('10:05:00'), newest: 10_000 })).span).toEqual([180, '10:05:00', '10:39:55'])
    expect((await read({ since: at('10:05:00'), until: at('10:35:00'), newest: 70 })).span).toEqual([
      70,
      '10:09:15',
      '10:35:00',
    ])
  })
})

describe('a journal whose clock never went back', () => {
  const steady = [steppedFiles()[0] ?? []]

  test('is read once, and checked with two short runs', async () => {
    const { span, steps, calls } = await read({ since: at('10:01:00'), until: at('10:02:00') }, steady)
    expect(span).toEqual([13, '10:01:00', '10:02:00'])
    expect(steps).toEqual([])
    expect(calls.filter((args) => args.some((word) => word.startsWith('--output-fields=PRIORITY')))).toHaveLength(2)
    expect(calls).toHaveLength(4)
  })

  test('without an end of the range needs no check', async () => {
    expect((await read({ since: at('10:01:00') }, steady)).calls).toHaveLength(2)
  })

  test('has no entry in an empty range', async () => {
    expect((await read({ since: at('08:00:00'), until: at('08:10:00') }, steady)).span).toEqual([
      0,
      undefined,
      undefined,
    ])
  })
})

// A clock that a host had for some seconds after its last boot must not make each range a read of everything.
test('entries of a later boot with an earlier clock do not extend a range in which they are not', async () => {
  const [first = [], second = []] = steppedFiles()
  const { span, steps, calls } = await read({ since: at('10:01:00'), until: at('10:02:00') }, [
    first,
    second.slice(0, 60),
  ])
  expect(span).toEqual([13, '10:01:00', '10:02:00'])
  expect(steps).toEqual([])
  expect(calls).toHaveLength(4)
})
