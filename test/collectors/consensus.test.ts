import { expect, test } from 'vitest'
import { consensus } from '../../src/collectors/consensus.ts'
import { createNames } from '../../src/collectors/parts/names.ts'
import type { Outcome } from '../../src/core/outcome.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import type { Exec } from '../../src/sources/exec.ts'
import type { Following, Journal, JournalBatch } from '../../src/sources/journal.ts'
import { manualClock } from '../support/manual-clock.ts'
import { closed, committed, entry, T0, UNIT } from './consensus-log.ts'
import { recording } from './recording.ts'

const TIMING = { interval: 5000, timeout: 10_000 }
type Step = readonly JournalEntry[] | 'gap' | 'a minute later'

/** Runs the collector over these batches; whoever asks for more waits until the agent ends. */
const run = async (steps: readonly Step[], stderr = '') => {
  const { recorder, total } = recording()
  const clock = manualClock(T0)
  const stop = new AbortController()
  const asked: Following[] = []
  const left = [...steps]
  const journal: Journal<JournalEntry> = {
    async *follow(following) {
      asked.push(following)
      const batch: JournalBatch<JournalEntry> = { entries: [], unreadable: 0, gap: false }
      yield batch
      for (let step = left.shift(); step !== undefined; step = left.shift()) {
        if (step === 'a minute later') await clock.advance(60_000)
        if (step === 'gap') yield { ...batch, gap: true }
        else if (typeof step === 'string') yield batch
        else {
          await clock.advance(Math.max(0, (step.at(-1)?.at ?? 0) - clock.now()))
          yield { ...batch, entries: step }
        }
      }
      stop.abort()
    },
  }
  const exec: Exec = {
    run: () => Promise.resolve({ exitCode: stderr === '' ? 0 : 1, stdout: '', stderr }),
    async *stream() {},
    killAll: () => undefined,
  }
  const collector = consensus({
    listening: {
      journal,
      recorder,
      checkpoint: { read: () => Promise.resolve({ state: 'none' }), save: () => undefined },
    },
    exec,
    clock,
    names: createNames(() => Promise.resolve({ word: 'chain', from: 'configuration' })),
    unit: '{prefix}-bft.service',
    timing: TIMING,
  })
  let last: Outcome<Parameters<typeof collector.samples>[0]> | undefined
  const running = collector.run({ clock, signal: stop.signal }, (outcome) => {
    last = outcome
  })
  await running
  if (last?.ok !== true) throw new Error('no reading')
  const { value } = last
  const samples = Object.fromEntries(
    collector
      .samples(value)
      .map(({ name, labels, value: figure }) => [
        [name, ...Object.values(labels)].join(' '),
        figure,
      ]),
  )
  return { asked, samples, states: collector.states(value), total }
}

const seconds = (from: number, until: number): readonly JournalEntry[] =>
  Array.from({ length: until - from }, (_, at) => [
    entry(T0 + (from + at) * 1000, closed(100 + from + at)),
    entry(T0 + (from + at) * 1000 + 1, committed(50 + from + at)),
  ]).flat()

test('asks for what matters only, and exposes the window', async () => {
  const { asked, samples, states, total } = await run([seconds(0, 61)])
  const [, unit, grep = ''] = asked[0]?.match ?? []
  expect(unit).toBe(UNIT)
  expect(grep).toMatch(/^--grep=.*committed block/)
  expect(samples).toMatchObject({
    chain_consensus_round: 160,
    chain_consensus_epoch: 7,
    chain_consensus_block_number: 110,
    chain_consensus_committing: 1,
    chain_consensus_statesync_active: 0,
    'chain_consensus_window_messages committed_block': 60,
    'chain_consensus_finding not_committing': 0,
    'chain_agent_journal_last_entry_timestamp_seconds bft': (T0 + 60_001) / 1000,
  })
  expect(samples).not.toHaveProperty('chain_consensus_network_error_peers') // not five minutes yet
  expect(states).toEqual({ 'consensus log': 'no findings' })
  expect(total('chain_consensus_messages_total{kind=committed_block}')).toBe(61)
  expect(total('chain_agent_lines_total{format=consensus-log,result=parsed}')).toBe(122)
})

test('without PCRE2 journalctl does not filter', async () => {
  const { asked } = await run([], 'Compiled without pattern matching support')
  expect(asked[0]?.match).toEqual(['-u', UNIT])
})

test('where nothing is written any more, what was said leaves the window', async () => {
  const later: readonly Step[] = ['a minute later', 'a minute later', 'a minute later']
  const { samples, states } = await run([seconds(0, 61), [], ...later])
  expect(samples).toMatchObject({
    chain_consensus_committing: 0,
    'chain_consensus_finding not_committing': 1,
  })
  expect(samples).not.toHaveProperty('chain_consensus_block_number')
  expect(states).toEqual({ 'consensus log': 'not_committing' })
})

test('after a gap absence is unknown anew', async () => {
  const { samples } = await run([seconds(0, 61), 'gap', [entry(T0 + 61_000, closed(5))]])
  expect(samples).toMatchObject({ chain_consensus_round: 5 })
  expect(samples).not.toHaveProperty('chain_consensus_committing')
  expect(samples).not.toHaveProperty('chain_consensus_finding not_committing')
})
