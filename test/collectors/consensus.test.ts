import { expect, test } from 'vitest'
import { consensus } from '../../src/collectors/consensus/collector.ts'
import { createRoundLog } from '../../src/collectors/consensus/round-log.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import { closed, committed, entry, T0, UNIT } from './consensus-log.ts'
import { runFollower, type Step } from './run-follower.ts'

/** Runs the collector over these batches. */
const run = async (steps: readonly Step[], stderr = '') =>
  runFollower(
    (dependencies) => consensus({ ...dependencies, unit: '{prefix}-bft.service', roundLog: createRoundLog() }),
    {
      beginsAt: T0,
      steps,
      stderr,
      isTimed: true,
    },
  )

const seconds = (from: number, until: number): readonly JournalEntry[] =>
  Array.from({ length: until - from }, (_, at) => [
    entry(T0 + (from + at) * 1000, closed(100 + from + at)),
    entry(T0 + (from + at) * 1000 + 1, committed(50 + from + at)),
  ]).flat()

test('requests the relevant lines only, and exports the window', async () => {
  const { requests, samples, states, total } = await run([seconds(0, 61)])
  const [, unit, grep = ''] = requests[0]?.match ?? []
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

test('journalctl without PCRE2 does not filter', async () => {
  const { requests } = await run([], 'Compiled without pattern matching support')
  expect(requests[0]?.match).toEqual(['-u', UNIT])
})

test('without new lines the old ones leave the window', async () => {
  const later: readonly Step[] = [{ seconds: 60 }, { seconds: 60 }, { seconds: 60 }]
  const { samples, states } = await run([seconds(0, 61), [], ...later])
  expect(samples).toMatchObject({
    chain_consensus_committing: 0,
    'chain_consensus_finding not_committing': 1,
  })
  expect(samples).not.toHaveProperty('chain_consensus_block_number')
  expect(states).toEqual({ 'consensus log': 'not_committing' })
})

test('after a gap absence is unknown again', async () => {
  const { samples } = await run([seconds(0, 61), 'gap', [entry(T0 + 61_000, closed(5))]])
  expect(samples).toMatchObject({ chain_consensus_round: 5 })
  expect(samples).not.toHaveProperty('chain_consensus_committing')
  expect(samples).not.toHaveProperty('chain_consensus_finding not_committing')
})

test('a log in which consensus has written no line says nothing about the node, however long it is silent', async () => {
  const bySystemd = entry(T0, 'Started chain-bft.service.', { _PID: '1', UNIT })
  const silent = await run([[bySystemd], { seconds: 90 }])
  expect(silent.samples).not.toHaveProperty('chain_consensus_committing')
  expect(silent.samples).not.toHaveProperty('chain_consensus_finding not_committing')
  expect(silent.states).not.toHaveProperty('consensus log')
  // After one line, silence is that of consensus.
  const stopped = await run([[entry(T0, committed(50))], { seconds: 90 }])
  expect(stopped.samples).toMatchObject({ chain_consensus_committing: 0, 'chain_consensus_finding not_committing': 1 })
})
