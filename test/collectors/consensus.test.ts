import { describe, expect, test } from 'vitest'
import { consensus } from '../../src/collectors/consensus/collector.ts'
import { createConsensusCounters } from '../../src/collectors/consensus/counters.ts'
import { FINDINGS } from '../../src/collectors/consensus/findings.ts'
import { createRoundLog } from '../../src/collectors/consensus/round-log.ts'
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
  UNIT,
  vote,
} from './consensus-log.ts'
import { recording } from './recording.ts'
import { runFollower, type Step } from './run-follower.ts'

const start = () => {
  const { recorder, total } = recording()
  const counters = createConsensusCounters(recorder)
  counters.initialize()
  const read = (...entries: readonly JournalEntry[]): void => {
    for (const one of entries) counters.on(one, false)
  }
  const findings = (): readonly string[] => {
    const values = counters.read()
    return FINDINGS.filter(({ when }) => when(values)).map(({ finding }) => finding)
  }
  const applies = (name: string): boolean | null | undefined =>
    FINDINGS.find(({ finding }) => finding === name)?.when(counters.read())
  return { counters, read, total, findings, applies, reading: counters.read }
}

/** A healthy minute and a little more: a round and a block each 400 ms, from `from` seconds on. */
const healthy = (from = 0, seconds = 62, debug = true): readonly JournalEntry[] =>
  Array.from({ length: (seconds * 1000) / 400 }, (_, at) => {
    const time = T0 + from * 1000 + at * 400
    return [entry(time, debug ? closed(1000 + at) : newQc(1000 + at)), entry(time + 1, committed(500 + at))]
  }).flat()

test('a healthy node: blocks, rounds, epoch, and no findings', () => {
  const { read, reading, findings, applies } = start()
  read(...healthy())
  expect(reading()).toMatchObject({
    // 155 of each; the last 60 whole seconds are those from 2.0 on: five rounds of 400 ms are out.
    block: 654n,
    round: 1154n,
    epoch: 7n,
    committing: true,
    statesyncActive: false,
    blocksyncActive: false,
    messages: { committed_block: 150, round_advanced: 150, round_timed_out: 0, vote_created: 0 },
    isWhole: true,
  })
  expect(findings()).toEqual([])
  expect(applies('not_voting')).toBe(false) // no vote was computed before
})

test('with less than a minute of the log, messages are certain; their absence and the counts are unknown', () => {
  const { read, reading, findings, applies } = start()
  read(...healthy(0, 20))
  const unknown = { statesyncActive: null, messages: { committed_block: null } }
  expect(reading()).toMatchObject({ committing: true, block: 549n, ...unknown })
  expect(findings()).toEqual([])
  expect(applies('panic')).toBeNull()
})

test('local timeouts without a block are a deadlock', () => {
  const { read, reading, findings } = start()
  read(...Array.from({ length: 70 }, (_, at) => entry(T0 + at * 1000, timedOut(9))))
  // One round that timed out again and again: proposals are not late, there are none.
  expect(findings()).toEqual(['not_committing', 'timeout_deadlock'])
  expect(reading()).toMatchObject({ messages: { local_timeout: 60 }, localTimeoutRounds: 1 })
  read(...[10, 11].map((round, at) => entry(T0 + 70_000 + at, timedOut(round))))
  expect(findings()).toEqual(['not_committing', 'timeout_deadlock', 'local_timeouts'])
})

test('rounds closed by timeouts: a ratio, with enough rounds only', () => {
  const { read, findings } = start()
  read(...healthy())
  const timeouts = Array.from({ length: 8 }, (_, at) => entry(T0 + 62_000 + at, closed(2000 + at, 'Tc')))
  read(...timeouts.slice(0, 7))
  expect(findings()).toEqual([]) // 7 of 155 or so: 4.5 %
  read(...timeouts.slice(7))
  expect(findings()).toEqual(['rounds_closed_by_timeout']) // 8 of 156: 5.1 %
})

test('a node that has voted before and stops voting while rounds advance', () => {
  const { counters, read, applies } = start()
  read(entry(T0, vote(999)))
  const snapshot: unknown = JSON.parse(JSON.stringify(counters.snapshot()))
  expect(snapshot).toEqual({ votedAt: T0, hasLine: true })
  read(...healthy())
  expect(applies('not_voting')).toBe(true)
  read(entry(T0 + 62_000, vote(1200)))
  expect(applies('not_voting')).toBe(false)
  const after = start()
  after.counters.restore(snapshot)
  after.counters.restore({ invalid: true })
  after.read(...healthy(10))
  expect(after.applies('not_voting')).toBe(true)
})

test('a log at INFO: kinds that are logged at DEBUG are unknown, not 0', () => {
  const { read, reading, findings, applies } = start()
  read(entry(T0 - 10_000, vote(3)), ...healthy(0, 62, false))
  expect(reading()).toMatchObject({
    round: 1154n,
    committing: true,
    statesyncActive: false,
    blocksyncActive: null,
    messages: { committed_block: 150, round_advanced: null, local_timeout: null, warning: 0 },
  })
  expect(findings()).toEqual(['info_only_log'])
  expect(applies('rounds_closed_by_timeout')).toBeNull()
  expect(applies('not_voting')).toBeNull()
})

test('after dropped messages absence proves nothing; counts are exported', () => {
  const { read, reading, findings, total } = start()
  read(...Array.from({ length: 70 }, (_, at) => entry(T0 + at * 1000, closed(at))))
  expect(findings()).toEqual(['not_committing'])
  read(suppressed(T0 + 69_500, 1234))
  expect(findings()).toEqual(['suppressed_messages'])
  expect(reading()).toMatchObject({ committing: null, messages: { round_advanced: 60 } })
  expect(total('chain_log_suppressed_messages_total{service=bft}')).toBe(1234)
  read(...Array.from({ length: 70 }, (_, at) => entry(T0 + 70_000 + at * 1000, closed(70 + at))))
  expect(findings()).toEqual(['not_committing']) // complete again after a minute
})

describe('synchronization', () => {
  const client = (message: string): string => line(message, { target: 'a_statesync_executor::client' })
  const state = (message: string): string => line(message, { level: 'INFO', target: 'a_state' })
  const stillSyncing = (status: string): string =>
    line('still syncing...', { level: 'INFO', target: 'a_state', db_status: status, root_seq_num: '67000' })

  test('serving other nodes is not a sync of this node', () => {
    const { read, reading, findings, total } = start()
    read(...healthy())
    read(
      entry(T0 + 62_000, client('received statesync request, num pending 0, in progress 1')),
      entry(T0 + 62_001, client('sending response')),
      entry(T0 + 62_002, line('blocksync: peer headers request', { target: 'a_blocksync' })),
    )
    expect(reading()).toMatchObject({ statesyncActive: false, blocksyncActive: false })
    expect(findings()).toEqual([])
    expect(total('chain_consensus_messages_total{kind=statesync}')).toBe(0)
  })
  test('statesync is active until the node reports that it is done', () => {
    const { read, reading, findings } = start()
    read(entry(T0, state('starting up, syncing')), entry(T0 + 500, client('sending request')))
    expect(reading()).toMatchObject({ statesyncActive: true, startActive: false })
    read(entry(T0 + 61_000, stillSyncing('Started')), entry(T0 + 62_500, client('applying statesync response')))
    expect(findings()).toEqual(['statesync_active']) // and not not_committing
    read(entry(T0 + 63_000, state('done db statesync')))
    expect(reading().statesyncActive).toBe(true)
    read(entry(T0 + 63_001, state('done syncing, initializing consensus')))
    expect(reading()).toMatchObject({ statesyncActive: false, startActive: false })
  })
  test('a start that waits for blocks is no statesync, and stays a start after its lines have left the window', () => {
    const { read, reading, findings, total } = start()
    read(...healthy())
    expect(reading()).toMatchObject({ startActive: false, statesyncActive: false })
    read(entry(T0 + 61_000, line('received SIGTERM, exiting...', { level: 'INFO', target: 'a_node' })))
    read(entry(T0 + 62_000, state('starting up, syncing')), entry(T0 + 62_001, stillSyncing('Waiting')))
    expect(reading()).toMatchObject({ startActive: true, statesyncActive: false })
    read(entry(T0 + 500_000, line('blocksync: self request timeout', { target: 'a_blocksync' })))
    expect(reading()).toMatchObject({ startActive: true, statesyncActive: false, committing: false })
    expect(findings()).toEqual(['start_active', 'blocksync_active']) // and not not_committing
    expect(total('chain_consensus_messages_total{kind=statesync}')).toBe(0)
    read(entry(T0 + 500_001, state('done db statesync')))
    read(entry(T0 + 500_001, state('done syncing, initializing consensus')))
    expect(reading()).toMatchObject({ startActive: false, statesyncActive: false })
  })
  test('an ordinary start, in one millisecond; another one ends a statesync', () => {
    const { read, reading } = start()
    read(entry(T0, state('starting up, syncing')), entry(T0, stillSyncing('Waiting')))
    read(entry(T0, state('done db statesync')), entry(T0, state('done syncing, initializing consensus')))
    expect(reading()).toMatchObject({ startActive: false, statesyncActive: false })
    read(entry(T0 + 10_000, client('applying statesync response')), entry(T0 + 12_000, state('starting up, syncing')))
    expect(reading()).toMatchObject({ startActive: true })
    expect(reading().statesyncActive).not.toBe(true)
  })
  test('whether the node starts is unknown until a line shows it', () => {
    const { read, reading } = start()
    read(entry(T0, line('blocksync: self request timeout', { target: 'a_blocksync' })))
    expect(reading().startActive).toBeNull()
    read(entry(T0 + 90_000, committed(7)))
    expect(reading().startActive).toBe(false)
  })
  test('blocksync without peers', () => {
    const { read, findings } = start()
    const text = 'blocksync: payload request timed out, but no peers - retrying later'
    read(entry(T0, line(text, { level: 'WARN', target: 'a_blocksync::blocksync' })))
    expect(findings()).toEqual(['blocksync_active', 'blocksync_without_peers'])
  })
})

test('the next line of the same process is the reason of a panic', () => {
  const { read, reading, findings, total } = start()
  read(
    entry(T0, "thread 'main' panicked at src/a.rs:1:2:"),
    entry(T0 + 1, 'another program', { _PID: '41' }),
    entry(T0 + 2, 'high qc too far ahead of block tree root, restart client and statesync. highqc: 9'),
    entry(T0 + 3, 'note: run with RUST_BACKTRACE=1'),
  )
  expect(reading().panic).toMatch(/^high qc too far ahead/)
  expect(findings()).toEqual(['panic', 'too_far_behind'])
  expect(total('chain_consensus_messages_total{kind=error}')).toBe(1)
  expect(total('chain_log_lines_total{service=bft,level=error}')).toBe(1)
})

test('network errors of one peer are no finding, those of two peers are; five minutes', () => {
  const { read, reading, findings, total } = start()
  const errors = (from: number, peer: string): readonly JournalEntry[] =>
    Array.from({ length: 30 }, (_, at) => entry(from + at, undecryptable(peer)))
  read(...errors(T0, '192.0.2.1'))
  expect(findings()).toEqual([])
  read(...errors(T0 + 100_000, '192.0.2.2'))
  expect(findings()).toContain('network_errors')
  expect(reading()).toMatchObject({ networkErrors: 60, networkErrorPeers: 2 })
  read(entry(T0 + 301_000, committed(1)))
  expect(reading()).toMatchObject({ networkErrors: 30, networkErrorPeers: 1 })
  expect(total('chain_consensus_network_errors_total{kind=decrypt}')).toBe(60)
  expect(total('chain_log_lines_total{service=bft,level=warning}')).toBe(60)
})

test('entries from before the agent update the window and are not counted', () => {
  const { counters, total, reading } = start()
  for (const one of [entry(T0, committed(1)), suppressed(T0 + 1, 7)]) counters.on(one, true)
  expect(reading().block).toBe(1n)
  expect(total('chain_consensus_messages_total{kind=committed_block}')).toBe(0)
  expect(total('chain_log_suppressed_messages_total{service=bft}')).toBe(0)
})

test('after the clock was set back the window accepts new entries', () => {
  const { counters, read, reading } = start()
  read(entry(T0 + 3_600_000, committed(1)))
  counters.resetIfAheadOf(T0)
  read(entry(T0, committed(2)), entry(T0 + 400, committed(3)))
  expect(reading()).toMatchObject({ block: 3n, committing: true })
})

test('an unparsed line is reported', () => {
  const { read, reading } = start()
  read(entry(T0, line('advancing round', { certificate: 'Nc(1)' })))
  expect(reading().unparsed).toContain('Nc(1)')
})

/** Runs the collector over these batches. */
const run = async (steps: readonly Step[]) =>
  runFollower(
    (dependencies) => consensus({ ...dependencies, unit: '{prefix}-bft.service', roundLog: createRoundLog() }),
    { beginsAt: T0, steps, isTimed: true },
  )

test('requests the relevant lines only, and exports the window', async () => {
  const { requests, samples, states, total } = await run([healthy()])
  const [, unit, grep = ''] = requests[0]?.match ?? []
  expect(unit).toBe(UNIT)
  expect(grep).toMatch(/^--grep=.*committed block/)
  expect(samples).toMatchObject({
    chain_consensus_round: 1154,
    chain_consensus_epoch: 7,
    chain_consensus_block_number: 654,
    chain_consensus_committing: 1,
    chain_consensus_statesync_active: 0,
    'chain_consensus_window_messages committed_block': 150,
    'chain_consensus_finding not_committing': 0,
    'chain_agent_journal_last_entry_timestamp_seconds bft': (T0 + 61_601) / 1000,
  })
  expect(samples).not.toHaveProperty('chain_consensus_network_error_peers') // not five minutes yet
  expect(states).toEqual({ 'consensus log': 'no findings' })
  expect(total('chain_consensus_messages_total{kind=committed_block}')).toBe(155)
  expect(total('chain_agent_lines_total{format=consensus-log,result=parsed}')).toBe(310)
})

test('without new lines the old ones leave the window', async () => {
  const { samples, states } = await run([healthy(), [], { seconds: 60 }, { seconds: 60 }, { seconds: 60 }])
  expect(samples).toMatchObject({ chain_consensus_committing: 0, 'chain_consensus_finding not_committing': 1 })
  expect(samples).not.toHaveProperty('chain_consensus_block_number')
  expect(states).toEqual({ 'consensus log': 'not_committing' })
})

test('after a gap absence is unknown again', async () => {
  const { samples } = await run([healthy(), 'gap', [entry(T0 + 62_000, closed(5))]])
  expect(samples).toMatchObject({ chain_consensus_round: 5 })
  expect(samples).not.toHaveProperty('chain_consensus_committing')
  expect(samples).not.toHaveProperty('chain_consensus_finding not_committing')
})

test('a log in which consensus has written no line is no sign of the node, however long it is silent', async () => {
  const bySystemd = entry(T0, 'Started chain-bft.service.', { _PID: '1', UNIT })
  const silent = await run([[bySystemd], { seconds: 90 }])
  expect(silent.samples).not.toHaveProperty('chain_consensus_committing')
  expect(silent.samples).not.toHaveProperty('chain_consensus_finding not_committing')
  expect(silent.states).not.toHaveProperty('consensus log')
  // After one line, silence is that of consensus.
  const stopped = await run([[entry(T0, committed(50))], { seconds: 90 }])
  expect(stopped.samples).toMatchObject({ chain_consensus_committing: 0, 'chain_consensus_finding not_committing': 1 })
})
