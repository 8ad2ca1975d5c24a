import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Exec } from '../../src/sources/exec.ts'
import { createSnapshotJournal } from '../../src/sources/journal-range.ts'
import { manualClock } from '../support/manual-clock.ts'

const NOW = 1_000_000
const TEN_DAYS_AHEAD = NOW + 864_000_000
const line = (at: number): string => `${JSON.stringify({ cursor: `s=${at}`, at })}\n`
const schema = z.object({ cursor: z.string(), at: z.number() })
const parse = (text: string) => schema.parse(JSON.parse(text))

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
  const context = { clock: manualClock(NOW), signal: new AbortController().signal }
  const following = { match: ['-u', 'x'], start: { newest: 100 }, interval: 1000, timeout: 500 }
  for await (const { entries } of createSnapshotJournal({ exec, parse }).follow(following, context)) {
    return entries.map(({ at }) => at)
  }
  return []
}

test('entries of another boot that are later than now are left out', async () => {
  expect(await timesRead(NOW - 10)).toEqual([NOW - 10])
})

test('entries of this boot from before the clock went back are read', async () => {
  expect(await timesRead(TEN_DAYS_AHEAD)).toEqual([NOW - 10, TEN_DAYS_AHEAD])
})
