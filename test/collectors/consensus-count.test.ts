import { describe, expect, test } from 'vitest'
import { createConsensusCount } from '../../src/collectors/consensus/count.ts'
import { FINDINGS } from '../../src/collectors/consensus/findings.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import {
  closed,
  committed,
  entry,
  line,
  newQc,
  suppressed,
  T0,
  timedOut,
  undecryptable,
  vote,
} from './consensus-log.ts'
import { recording } from './recording.ts'

const count = () => {
  const { recorder, total } = recording()
  const counting = createConsensusCount(recorder)
  counting.begin()
  const hear = (...entries: readonly JournalEntry[]): void => {
    for (const one of entries) counting.on(one, false)
  }
  const standing = (): readonly string[] => {
    const reading = counting.read()
    return FINDINGS.filter(({ when }) => when(reading)).map(({ finding }) => finding)
  }
  const verdict = (name: string): boolean | null | undefined =>
    FINDINGS.find(({ finding }) => finding === name)?.when(counting.read())
  return { counting, hear, total, standing, verdict, read: counting.read }
}

/** A healthy minute and a little more: a round and a block each 400 ms, from `from` seconds on. */
const healthy = (from = 0, seconds = 62, debug = true): readonly JournalEntry[] =>
  Array.from({ length: (seconds * 1000) / 400 }, (_, at) => {
    const time = T0 + from * 1000 + at * 400
    return [
      entry(time, debug ? closed(1000 + at) : newQc(1000 + at)),
      entry(time + 1, committed(500 + at)),
    ]
  }).flat()

test('a healthy node: blocks, rounds, epoch, and nothing found', () => {
  const { hear, read, standing, verdict } = count()
  hear(...healthy())
  expect(read()).toMatchObject({
    // 155 of each; the last 60 whole seconds are those from 2.0 on: five rounds of 400 ms are out.
    block: 654n,
    round: 1154n,
    epoch: 7n,
    committing: true,
    statesyncActive: false,
    blocksyncActive: false,
    messages: { committed_block: 150, round_advanced: 150, round_timed_out: 0, vote_sent: 0 },
    isWhole: true,
  })
  expect(standing()).toEqual([])
  expect(verdict('not_voting')).toBe(false) // a full node never votes
})

describe('before a minute was heard', () => {
  test('presence is told, absence and counts are not', () => {
    const { hear, read, standing, verdict } = count()
    hear(...healthy(0, 20))
    expect(read()).toMatchObject({
      committing: true,
      block: 549n,
      statesyncActive: null,
      messages: { committed_block: null },
    })
    expect(standing()).toEqual([])
    expect(verdict('panic')).toBeNull()
  })
  test('nothing at all is unknown', () => {
    const { read, standing } = count()
    expect(read()).toMatchObject({ committing: null, block: null, networkErrorPeers: null })
    expect(standing()).toEqual([])
  })
})

test('when the log falls silent, time goes on: the last block leaves the window', () => {
  const { counting, hear, read, standing } = count()
  hear(...healthy())
  counting.silent(T0 + 100_000)
  expect(read()).toMatchObject({ committing: true, block: 654n })
  counting.silent(T0 + 130_000)
  expect(read()).toMatchObject({ committing: false, block: null, messages: { committed_block: 0 } })
  expect(standing()).toEqual(['not_committing'])
})

test('a height that stays is no progress', () => {
  const { hear, read } = count()
  hear(...Array.from({ length: 70 }, (_, at) => entry(T0 + at * 1000, committed(5))))
  expect(read()).toMatchObject({ committing: false, block: 5n })
})

test('local timeouts and no block: the deadlock', () => {
  const { hear, standing } = count()
  hear(...Array.from({ length: 70 }, (_, at) => entry(T0 + at * 1000, timedOut(9))))
  expect(standing()).toEqual(['not_committing', 'timeout_deadlock', 'local_timeouts'])
})

test('rounds closed by timeouts: a share, and of enough rounds only', () => {
  const { hear, standing } = count()
  hear(...healthy())
  const gaveUp = Array.from({ length: 8 }, (_, at) =>
    entry(T0 + 62_000 + at, closed(2000 + at, 'Tc')),
  )
  hear(...gaveUp.slice(0, 7))
  expect(standing()).toEqual([]) // 7 of 155 or so: 4.5 %
  hear(...gaveUp.slice(7))
  expect(standing()).toEqual(['rounds_closed_by_timeout']) // 8 of 156: 5.1 %
})

test('whoever has voted and falls silent while rounds go on', () => {
  const { counting, hear, verdict } = count()
  hear(entry(T0, vote(999)))
  const memory: unknown = JSON.parse(JSON.stringify(counting.memory()))
  expect(memory).toEqual({ votedAt: T0 })
  hear(...healthy())
  expect(verdict('not_voting')).toBe(true)
  hear(entry(T0 + 62_000, vote(1200)))
  expect(verdict('not_voting')).toBe(false)
  const after = count()
  after.counting.restore(memory)
  after.counting.restore({ nonsense: true })
  after.hear(...healthy(10))
  expect(after.verdict('not_voting')).toBe(true)
})

test('INFO alone: what only DEBUG tells is unknown, and not 0', () => {
  const { hear, read, standing, verdict } = count()
  hear(entry(T0 - 10_000, vote(3)), ...healthy(0, 62, false))
  expect(read()).toMatchObject({
    round: 1154n,
    committing: true,
    statesyncActive: false,
    blocksyncActive: null,
    messages: { committed_block: 150, round_advanced: null, local_timeout: null, warning: 0 },
  })
  expect(standing()).toEqual(['info_only_log'])
  expect(verdict('rounds_closed_by_timeout')).toBeNull()
  expect(verdict('not_voting')).toBeNull()
})

test('journald dropped some: absence proves nothing, counts are shown', () => {
  const { hear, read, standing, total } = count()
  hear(...Array.from({ length: 70 }, (_, at) => entry(T0 + at * 1000, closed(at))))
  expect(standing()).toEqual(['not_committing'])
  hear(suppressed(T0 + 69_500, 1234))
  expect(standing()).toEqual(['suppressed_messages'])
  expect(read()).toMatchObject({ committing: null, messages: { round_advanced: 60 } })
  expect(total('chain_log_suppressed_messages_total{service=bft}')).toBe(1234)
  hear(...Array.from({ length: 70 }, (_, at) => entry(T0 + 70_000 + at * 1000, closed(70 + at))))
  expect(standing()).toEqual(['not_committing']) // a minute later all is heard again
})

describe('synchronising', () => {
  const client = (message: string): string =>
    line(message, { target: 'a_statesync_executor::client' })
  const state = (message: string): string => line(message, { level: 'INFO', target: 'a_state' })

  test('serving others is no need of our own', () => {
    const { hear, read, standing, total } = count()
    hear(...healthy())
    hear(
      entry(T0 + 62_000, client('received statesync request')),
      entry(T0 + 62_001, client('sending response')),
      entry(T0 + 62_002, line('blocksync: peer headers request', { target: 'a_blocksync' })),
    )
    expect(read()).toMatchObject({ statesyncActive: false, blocksyncActive: false })
    expect(standing()).toEqual([])
    expect(total('chain_consensus_messages_total{kind=statesync}')).toBe(0)
  })
  test('own need stands until the node says that it is done', () => {
    const { hear, read, standing } = count()
    hear(entry(T0, state('starting up, syncing')), entry(T0 + 500, client('sending request')))
    expect(read().statesyncActive).toBe(true)
    hear(
      entry(T0 + 61_000, state('still syncing...')),
      entry(T0 + 62_000, state('done db statesync')),
    )
    hear(entry(T0 + 62_500, client('applying statesync response')))
    expect(standing()).toEqual(['statesync_active']) // and not that no block is committed
    hear(entry(T0 + 63_000, state('done syncing, initializing consensus')))
    expect(read().statesyncActive).toBe(false)
  })
  test('blocks from peers, and nobody to ask', () => {
    const { hear, standing } = count()
    const text = 'blocksync: payload request timed out, but no peers - retrying later'
    hear(entry(T0, line(text, { level: 'WARN', target: 'a_blocksync::blocksync' })))
    expect(standing()).toEqual(['blocksync_active', 'blocksync_without_peers'])
  })
})

test('a panic is told by its next line, of the same process', () => {
  const { hear, read, standing, total } = count()
  hear(
    entry(T0, "thread 'main' panicked at src/a.rs:1:2:"),
    entry(T0 + 1, 'another program', { _PID: '41' }),
    entry(
      T0 + 2,
      'high qc too far ahead of block tree root, restart client and statesync. highqc: 9',
    ),
    entry(T0 + 3, 'note: run with RUST_BACKTRACE=1'),
  )
  expect(read().panic).toMatch(/^high qc too far ahead/)
  expect(standing()).toEqual(['panic', 'too_far_behind'])
  expect(total('chain_consensus_messages_total{kind=error}')).toBe(1)
  expect(total('chain_log_lines_total{service=bft,level=error}')).toBe(1)
})

test('network errors: one peer alone is his trouble, two are ours; five minutes', () => {
  const { hear, read, standing, total } = count()
  const errors = (from: number, peer: string): readonly JournalEntry[] =>
    Array.from({ length: 30 }, (_, at) => entry(from + at, undecryptable(peer)))
  hear(...errors(T0, '192.0.2.1'))
  expect(standing()).toEqual([])
  hear(...errors(T0 + 100_000, '192.0.2.2'))
  expect(standing()).toContain('network_errors')
  expect(read()).toMatchObject({ networkErrors: 60, networkErrorPeers: 2 })
  hear(entry(T0 + 301_000, committed(1)))
  expect(read()).toMatchObject({ networkErrors: 30, networkErrorPeers: 1 })
  expect(total('chain_consensus_network_errors_total{kind=decrypt}')).toBe(60)
  expect(total('chain_log_lines_total{service=bft,level=warning}')).toBe(60)
})

test('what is from before the agent explains the present and is not counted', () => {
  const { counting, total, read } = count()
  for (const one of [entry(T0, committed(1)), suppressed(T0 + 1, 7)]) counting.on(one, true)
  expect(read().block).toBe(1n)
  expect(total('chain_consensus_messages_total{kind=committed_block}')).toBe(0)
  expect(total('chain_log_suppressed_messages_total{service=bft}')).toBe(0)
})

test('a clock that was set back does not close the window to what comes', () => {
  const { counting, hear, read } = count()
  hear(entry(T0 + 3_600_000, committed(1)))
  counting.keepTo(T0)
  hear(entry(T0, committed(2)), entry(T0 + 400, committed(3)))
  expect(read()).toMatchObject({ block: 3n, committing: true })
})

test('lines not understood are counted; the first of its sort is kept, so that the log is not flooded', () => {
  const { hear, read, total } = count()
  hear(entry(T0, line('advancing round', { certificate: 'Nc(1)' })))
  const first = read().unparsed
  expect(first).toContain('Nc(1)')
  hear(entry(T0, line('advancing round', { certificate: 'Nc(2)' })), entry(T0, line('noise')))
  expect(read().unparsed).toBe(first)
  expect(total('chain_agent_lines_total{format=consensus-log,result=unparsed}')).toBe(2)
  expect(total('chain_agent_lines_total{format=consensus-log,result=ignored}')).toBe(1)
  expect(total('chain_agent_lines_total{format=consensus-log,result=parsed}')).toBe(0)
})

test('each finding has a name fit for a label, a text and a suggestion', () => {
  const reading = count().read()
  for (const { finding, text, suggestion } of FINDINGS) {
    expect(finding).toMatch(/^[a-z]+(?:_[a-z]+)*$/)
    expect(text(reading)).toMatch(/\.$|^The node has crashed/)
    expect(suggestion.length).toBeGreaterThan(20)
  }
  expect(new Set(FINDINGS.map(({ finding }) => finding)).size).toBe(FINDINGS.length)
})
