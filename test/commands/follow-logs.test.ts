import { expect, test } from 'vitest'
import { readJournal } from '../../src/agent/journal-reader.ts'
import { settle } from '../../src/core/virtual-clock.ts'
import type { Exec } from '../../src/sources/exec.ts'
import { manualClock } from '../support/manual-clock.ts'

const START = 1_000_000
/** The entry that was written at this second. */
const line = (second: number): string => {
  const at = START + second * 1000
  const micros = String(at * 1000)
  return `${JSON.stringify({ __CURSOR: `s=1;i=${second}`, __REALTIME_TIMESTAMP: micros, MESSAGE: `line ${second}` })}\n`
}

test('a followed log resumes where it stopped when journalctl goes silent', async () => {
  const clock = manualClock(START)
  const stop = new AbortController()
  const newest = (): number => Math.floor((clock.now() - START) / 1000)
  let followers = 0
  const exec: Exec = {
    run: () => Promise.resolve({ exitCode: 0, stdout: line(newest()), stderr: '' }),
    async *stream({ args }, signal) {
      if (!args.includes('--follow')) {
        yield Buffer.from(line(0))
        return
      }
      const isFirst = (followers += 1) === 1
      let next = Number(/i=(\d+)/.exec(args.find((arg) => arg.startsWith('--cursor=')) ?? '')?.[1])
      while (!signal.aborted) {
        // The first one is silent from the tenth second on.
        for (; next <= (isFirst ? Math.min(newest(), 10) : newest()); next += 1) yield Buffer.from(line(next))
        await clock.sleep(1000, signal)
      }
    },
    killAll: () => undefined,
  }
  const messages: (string | null)[] = []
  const reading = (async () => {
    for await (const { entries } of readJournal({ exec, clock, signal: stop.signal }, { unit: 'x', follow: true })) {
      messages.push(...entries.map(({ message }) => message))
    }
  })()
  await settle()
  for (let second = 1; second <= 60; second += 1) await clock.advance(1000)
  stop.abort()
  await reading
  expect(followers).toBe(2)
  expect(messages).toEqual(Array.from({ length: 61 }, (_, second) => `line ${second}`))
})
