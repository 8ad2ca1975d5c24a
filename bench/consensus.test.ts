import { expect, test } from 'vitest'
import { createConsensusCounters } from '../src/collectors/consensus/counters.ts'
import type { Recorder } from '../src/core/metric.ts'
import type { JournalEntry } from '../src/parsers/journal.ts'
import { closed, committed, entry, line, T0, vote } from '../test/collectors/consensus-log.ts'

/** A minute of a busy node that logs DEBUG. */
const LINES = 330_000
const ROUNDS = 5

const NOISE = [
  line('vote message', {
    vote: `Vote { id: 1a..2b, ${'signature: 8e01c5b0141d3e66, '.repeat(20)} }`,
  }),
  line('handling ping request', { target: 'a_peer_discovery', from: '02c3'.repeat(16) }),
  line('received chunk', { target: 'a_raptorcast::udp', bytes: 1220, hash: 'ab'.repeat(200) }),
]

const log = (): readonly JournalEntry[] =>
  Array.from({ length: LINES }, (_, at) => {
    const time = T0 + (at * 60_000) / LINES
    const ours = [committed(at), closed(at), vote(at)]
    const text = at % 100 === 0 ? ours[(at / 100) % 3] : NOISE[at % 3]
    return entry(time, text ?? '')
  })

const recorder: Recorder = { count: () => undefined, observe: () => undefined }

const timed = (work: () => void): number => {
  const began = performance.now()
  work()
  return LINES / ((performance.now() - began) / 1000)
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

test('lines a second: parser and window, against JSON.parse of every line', () => {
  const entries = log()
  const [ours, plain]: [number[], number[]] = [[], []]
  let seen = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const count = createConsensusCounters(recorder)
    ours.push(
      timed(() => {
        for (const one of entries) count.on(one, false)
      }),
    )
    seen = count.read().messages.committed_block ?? 0
    plain.push(
      timed(() => {
        for (const { message } of entries) JSON.parse(message ?? '')
      }),
    )
  }
  console.log({
    lines: LINES,
    averageLength: Math.round(entries.reduce((sum, { message }) => sum + (message?.length ?? 0), 0) / LINES),
    oursPerSecond: Math.round(median(ours)),
    jsonParsePerSecond: Math.round(median(plain)),
    ratio: median(ours) / median(plain),
    shareOfOneCoreAt5500: `${((5500 / median(ours)) * 100).toFixed(2)} %`,
  })
  expect(seen).toBeGreaterThan(0)
})
