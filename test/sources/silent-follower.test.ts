import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Exec } from '../../src/sources/exec.ts'
import { createJournal, type FollowOptions, type JournalStart } from '../../src/sources/journal.ts'
import type { VirtualClock } from '../../src/core/virtual-clock.ts'
import { manualClock } from '../support/manual-clock.ts'

interface Entry {
  readonly cursor: string
  readonly at: number
}
const START = 1_000_000
const STEP = 500
const schema = z.object({ n: z.number(), at: z.number() })
const parse = (text: string): Entry => {
  const { n, at } = schema.parse(JSON.parse(text))
  return { cursor: `n=${n}`, at }
}
const numberOf = (cursor: string): number => Number(cursor.slice(2))

/** A journal that grows by this many entries a second. The first follower is silent from `silentAt` on, and stays. */
const growingJournal = (clock: VirtualClock, perSecond: number, silentAt: number): Exec => {
  const timeOf = (n: number): number => START + (n * 1000) / perSecond
  const newest = (): number => Math.floor(((clock.now() - START) * perSecond) / 1000)
  const line = (n: number): string => `${JSON.stringify({ n, at: Math.floor(timeOf(n)) })}\n`
  let followers = 0
  return {
    run: ({ args }) => {
      const cursor = args.find((arg) => arg.startsWith('--cursor='))
      const n = cursor === undefined ? newest() : numberOf(cursor.slice('--cursor='.length))
      return Promise.resolve({ exitCode: 0, stdout: n <= newest() ? line(n) : '', stderr: '' })
    },
    async *stream({ args }, signal) {
      followers += 1
      const isFirst = followers === 1
      const cursor = args.find((arg) => arg.startsWith('--cursor='))
      let next = cursor === undefined ? newest() : numberOf(cursor.slice('--cursor='.length))
      while (!signal.aborted) {
        const last = isFirst && clock.now() >= silentAt ? -1 : newest()
        let text = ''
        for (; next <= last; next += 1) text += line(next)
        if (text !== '') yield Buffer.from(text)
        await clock.sleep(STEP, signal)
      }
    },
    killAll: () => undefined,
  }
}

// With the intervals of the agent: a heartbeat every 5 s. The unit of 0.1 lines a second logs less often than that.
test.each([0.1, 3, 5000])(
  'a follower that goes silent on a unit with %s lines a second is restarted within 35 s where it stopped',
  async (perSecond) => {
    const clock = manualClock(START)
    const silentAt = START + 21_000
    const exec = growingJournal(clock, perSecond, silentAt)
    const stop = new AbortController()
    const read: number[] = []
    const failures: { readonly at: number; readonly message: string }[] = []
    let start: JournalStart = { newest: 1 }
    const journal = createJournal({ exec, parse })
    const timing = { interval: 5000, timeout: 10_000 }
    const reading = (async () => {
      while (!stop.signal.aborted) {
        try {
          const following: FollowOptions = { match: ['-u', 'x'], start, ...timing }
          for await (const { entries, gap } of journal.follow(following, { clock, signal: stop.signal })) {
            expect(gap).toBe(false)
            for (const { cursor } of entries) read.push(numberOf(cursor))
            const last = entries.at(-1)
            if (last) start = { after: last.cursor }
          }
        } catch (error) {
          failures.push({ at: clock.now(), message: String(error) })
        }
      }
    })()
    for (let at = 0; at < 80_000; at += STEP) await clock.advance(STEP)
    stop.abort()
    await reading

    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('does not return')])
    const seconds = ((failures[0]?.at ?? Number.NaN) - silentAt) / 1000
    expect(seconds).toBeLessThanOrEqual(35)
    // Each entry once, up to those of the last step.
    const first = read[0] ?? Number.NaN
    expect(read.every((n, index) => n === first + index)).toBe(true)
    expect(read.at(-1)).toBeGreaterThanOrEqual(Math.floor(79 * perSecond))
    console.log(`${perSecond} lines/s: restarted ${seconds} s after the follower went silent; ${read.length} entries`)
  },
)
