import { describe, expect, test } from 'vitest'
import { createLifecycleCounters } from '../../../src/collectors/lifecycle/restarts.ts'
import type { JournalEntry } from '../../../src/parsers/journal.ts'
import {
  createJournalMatch,
  createBufferedEntries,
  type TakenEntries,
} from '../../../src/commands/replay/past-source.ts'
import { createServiceRuns, type ServiceRuns } from '../../../src/commands/replay/collectors.ts'
import { isRecordingMissing } from '../../../src/commands/replay/replay.ts'
import { createVirtualClock } from '../../../src/core/virtual-clock.ts'
import { type Recorder, createSampleIndex, sample } from '../../../src/core/metric.ts'
import { createFiringLog, incidentsOf } from '../../../src/commands/replay/firings.ts'
import {
  selectReplayRules,
  isCurrent,
  journalSamples,
  withConsensusEvents,
} from '../../../src/commands/replay/rules.ts'
import { addressOf } from '../../../src/health/rules/rule.ts'
import { blockAge } from '../../../src/health/facts.ts'
import { proposed } from '../ledger/stream.ts'

const AT = Date.UTC(2026, 2, 1)
const entry = (more: Partial<JournalEntry> = {}): JournalEntry => ({
  cursor: 's=1',
  at: AT,
  unit: 'chain-bft.service',
  message: 'hello',
  fields: {},
  ...more,
})

describe('a recorded entry matches the same arguments as in journalctl', () => {
  test.each([
    [['-u', 'chain-bft.service'], true],
    [['-u', 'chain-rpc.service'], false],
    [['-u', 'chain-rpc.service', '-u', 'chain-bft.service'], true],
    [['-u', 'chain-bft.service', '--grep=HELLO'], false],
    [['-u', 'chain-bft.service', '--grep=hel+o'], true],
    // Repeated fields are alternatives; different fields must all match.
    [['_PID=1', 'MESSAGE_ID=a', 'MESSAGE_ID=b'], true],
    [['_PID=1', 'MESSAGE_ID=a'], false],
    [['_PID=2', 'MESSAGE_ID=b'], false],
  ])('%j: %s', (match, expected) => {
    const fields = { _PID: '1', MESSAGE_ID: 'b' }
    expect(createJournalMatch(match)(entry({ fields }))).toBe(expected)
  })

  test('a pattern without capitals ignores case', () => {
    expect(createJournalMatch(['--grep=hello'])(entry({ message: 'HELLO' }))).toBe(true)
    expect(createJournalMatch(['--grep=Hello'])(entry({ message: 'HELLO' }))).toBe(false)
  })
})

/** An entry with a block that was written so many milliseconds after its timestamp. */
const block = (seq: number, delay: number): JournalEntry =>
  entry({ message: proposed(1, { seq, delay }), fields: { _BOOT_ID: 'one' } })

// The last block before the gap is 1000. ledger-tail begins with blocks of the last minute.
test.each<readonly [string, boolean, readonly JournalEntry[], object]>([
  ['the node resumes with a recent block far ahead', true, [block(1400, 400)], {}],
  ['with an old block', false, [block(1400, 60_000)], {}],
  ['with the next block', false, [block(1001, 400)], {}],
  ['with a block far younger than the gap', true, [block(1400, 36_000)], { lasted: 7_200_000 }],
  ['with a block not far younger', false, [block(1400, 36_000)], {}],
  ['consensus was down', false, [], { isDown: true }],
  ['the host was rebooted', true, [block(1001, 400)], { boot: 'another', isDown: true }],
  ['no block follows', true, [entry()], {}],
])('a gap of 4 min, and %s: entries are missing: %s', (...[, isMissing, after, more]) => {
  const gap = { lasted: 240_000, after, block: 1000, boot: 'one', isDown: false, ...more }
  expect(isRecordingMissing(gap)).toBe(isMissing)
})

test('buffered entries are returned up to a time, including late ones', async () => {
  const batches = async function* () {
    for (const batch of [[1, 2], [], [5, 4, 9]]) {
      await Promise.resolve()
      yield { entries: batch.map((at) => entry({ at })), unreadable: 1 }
    }
    return undefined
  }
  const buffer = createBufferedEntries([batches()])
  const timesOf = ({ entries }: TakenEntries) => entries.flat().map(({ at }) => at)
  expect(await buffer.next()).toBe(1)
  expect(timesOf(await buffer.take(2))).toEqual([1, 2])
  expect(await buffer.next()).toBe(5)
  expect((await buffer.peek()).map(({ at }) => at)).toEqual([5, 4, 9])
  expect(timesOf(await buffer.take(5))).toEqual([5, 4])
  expect(timesOf(await buffer.take(100))).toEqual([9])
  expect([await buffer.next(), buffer.takeUnreadable(), buffer.takeUnreadable()]).toEqual([null, [3], [0]])
})

test('a service that ended is down until it starts or logs again', () => {
  const runs = createServiceRuns(createVirtualClock(AT))
  let counted = 0
  const recorder: Recorder = {
    count: (_name, by, ..._labels) => {
      counted += Number(by)
    },
    countByName: () => undefined,
    observe: () => undefined,
  }
  const lifecycle = runs.wrap(createLifecycleCounters(recorder, ['bft', 'execution']))
  const down = () => [...runs.active()].flatMap(([service, isActive]) => (isActive ? [] : [service]))
  const eventOf = (invocation: string) => ({ service: 'bft', invocation, isOld: false })
  runs.noteEntry('bft', 'a')
  expect(down()).toEqual([])
  lifecycle.exited({ ...eventOf('a'), result: 'core-dump' })
  expect(down()).toEqual(['bft'])
  lifecycle.started(eventOf('b'))
  // A late entry about the previous run does not end this one.
  lifecycle.exited({ ...eventOf('a'), result: 'core-dump' })
  expect(down()).toEqual([])
  runs.noteReboot()
  expect(down()).toEqual(['bft'])
  runs.noteEntry('bft', 'c')
  expect(down()).toEqual([])
  // One start and one exit.
  expect(counted).toBe(2)
})

describe('the alerts of a replay', () => {
  const { rules, notEvaluated } = selectReplayRules()
  const evaluated = new Set(rules.alerts.map(({ row }) => addressOf(row)))

  test.each([
    'ChainLogTrouble.aborted ChainBlockStalled ChainBlocksyncWindow ChainCleanup.deletes-nothing',
    'ChainBlockStalled.deadlock ChainExecutionSlow ChainLogsIncomplete.format ChainLeaderTimeouts',
    'ChainLeaderTimeouts.in-a-row ChainLogTrouble ChainLogsIncomplete.no-new-entries ChainPartialRestart',
    'ChainBlockStalled.rebooted ChainServiceCrashed ChainServiceDown ChainServiceCrashed.restarts',
    'ChainStatesync ChainStorageFull.free-chunks ChainStorageFull ChainLogTrouble.timeline-missing',
    'ChainUptimeBudget.fast ChainUptimeBudget.slow ChainLogTrouble.wal-stopped',
  ])('%s are evaluated', (names) => {
    for (const name of names.split(' ')) expect(evaluated).toContain(name)
  })

  // An absent series is a fault of the agent's host in Prometheus, and in a replay only not in the journal.
  test('the rules without any sample do not fire', () => {
    const log = createFiringLog(rules)
    for (let at = 0; at <= 7_200_000; at += 15_000) log.evaluate(at, [])
    expect(log.firings()).toEqual([])
  })

  test.each([
    ['it needs another source', 'ChainRpcDown', 'rpc'],
    [
      'a series that it reads is only in metrics of the node, and another of the same metric is in the journal',
      'ChainStateDiverged.bad-state-root',
      'native',
    ],
    ['a recording rule needs another source', 'ChainNotVoting', 'native'],
    ['it is about an absent series', 'ChainBlind.references', 'reference'],
    ['it is about the agent', 'ChainAgentDown', undefined],
  ])('if %s, it is not evaluated: %s', (_, alert, need) => {
    expect(evaluated).not.toContain(alert)
    expect(notEvaluated.alerts).toContain(alert)
    if (need !== undefined) expect(notEvaluated.needs).toContain(need)
  })
})

describe('the firing log', () => {
  const { rules } = selectReplayRules()
  /** The used share of the database every 15 s from 0 on; ChainStorageFull is above 0.85 for 15 minutes. */
  const logOf = (shares: readonly number[]) => {
    const log = createFiringLog(rules)
    for (const [index, value] of shares.entries()) {
      log.evaluate(index * 15_000, [{ name: 'chain_execution_storage_used_ratio', labels: {}, value }])
    }
    return log
  }
  const times = (value: number, count: number): readonly number[] => Array.from({ length: count }, () => value)
  const full = (log: ReturnType<typeof logOf>) => log.firings().filter(({ alert }) => alert === 'ChainStorageFull')

  test('has a firing after `for`, with the description at the worst value', () => {
    // 15 minutes are 60 intervals: from the second sample, at 15 s, to the 62nd, at 915 s.
    const log = logOf([0.5, ...times(0.9, 60), 0.97, 0.9, 0.5])
    expect(full(log)).toMatchObject([
      { severity: 'warning', subject: '', beganAt: 15_000, firedAt: 915_000, endedAt: 945_000 },
    ])
    expect(full(log)[0]?.summary).toContain('The database of this host has been 97% full for 15 minutes, above 85%')
  })

  test('has no firing if the condition ended before', () => {
    expect(full(logOf([...times(0.9, 60), 0.5]))).toEqual([])
  })

  test('has no end while the alert fires, and the time of a reset as its end', () => {
    expect(full(logOf(times(0.9, 61))).map(({ endedAt }) => endedAt)).toEqual([null])
    const log = logOf(times(0.9, 61))
    log.reset(901_000)
    log.evaluate(9_000_000, [{ name: 'chain_execution_storage_used_ratio', labels: {}, value: 0.9 }])
    expect(full(log).map(({ endedAt }) => endedAt)).toEqual([901_000])
  })

  test('has the log line of an alert about a pattern, and its labels as subject', () => {
    const log = createFiringLog(rules)
    for (const [index, value] of [0, 1].entries()) {
      const labels = { service: 'bft', pattern: 'panic' }
      log.evaluate(index * 15_000, [{ name: 'chain_log_pattern_total', labels, value }], {
        lineOf: () => 'thread panicked',
      })
    }
    expect(log.firings()).toMatchObject([
      { alert: 'ChainLogTrouble.aborted', subject: 'bft panic', beganAt: 15_000, firedAt: 15_000, endedAt: null },
    ])
    expect(log.firings()[0]?.summary).toMatch(/ matched panic within .* Log line: thread panicked$/)
  })
})

test('an incident has the most severe first, and merges two severities of one alert', () => {
  const warning = { severity: 'warning', subject: '', beganAt: 0, firedAt: 0, endedAt: 1000, summary: '' } as const
  const critical = { severity: 'critical', endedAt: 5000, summary: 'worse' } as const
  const [other, one] = [
    { ...warning, alert: 'Other' },
    { ...warning, alert: 'A', endedAt: 8000 },
  ]
  const [incident] = incidentsOf([other, one, { ...one, ...critical, beganAt: 2000 }])
  expect(incident?.firings).toEqual([{ ...one, ...critical, endedAt: 8000 }, other])
  expect(incident).toMatchObject({ severity: 'critical', beganAt: 0, endedAt: 8000 })
})

const serviceRuns = {
  active: () =>
    new Map([
      ['bft', false],
      ['cruft', false],
    ]),
  started: () => new Map([['bft', 950_000]]),
  isPartialRestart: () => null,
} satisfies Partial<ServiceRuns>

const textOf = (samples: ReturnType<typeof journalSamples>) =>
  samples.map(({ name, labels, value }) => `${name} ${Object.values(labels).join()} ${value}`.replace('chain_', ''))

test('the journal has the state of services, the boot time, and the newest blocks', () => {
  const known = createSampleIndex([
    sample('chain_execution_block_number', 70),
    sample('chain_execution_block_started_timestamp_seconds', 1000),
    sample('chain_ledger_block_timestamp_seconds', 1002, { event: 'proposed' }),
  ])
  expect(textOf(journalSamples({ known, serviceRuns, timers: ['cruft'], bootedAt: 900_000 }))).toEqual([
    'service_active bft 0',
    'service_expected bft 1',
    'service_active cruft 0',
    'service_expected cruft 0',
    'service_start_timestamp_seconds bft 950',
    'host_boot_timestamp_seconds  900',
    'rpc_block_number latest 70',
    'rpc_last_advance_timestamp_seconds  1002',
  ])
})

test('the clock of execution is not the time of the block: without the ledger stream its age is unknown', () => {
  const known = createSampleIndex([
    sample('chain_execution_block_number', 70),
    sample('chain_execution_block_started_timestamp_seconds', 1000),
  ])
  const samples = journalSamples({ known, serviceRuns, timers: [], bootedAt: null })
  expect(blockAge({ known: createSampleIndex(samples), at: 1_000_000 })).toBeUndefined()
  expect(textOf(samples)).toContain('rpc_last_advance_timestamp_seconds  1000')
})

test('behind execution the ledger stream has stopped: the time of its newest block is not an age', () => {
  const samplesAt = (executed: number) => [
    sample('chain_execution_block_number', executed),
    sample('chain_ledger_seq_num', 100, { event: 'proposed' }),
    sample('chain_ledger_block_timestamp_seconds', 1000, { event: 'proposed' }),
  ]
  const keptAt = (executed: number) => {
    const samples = samplesAt(executed)
    return samples.filter(isCurrent(createSampleIndex(samples))).map(({ name }) => name)
  }
  // While it catches up execution is behind the stream.
  for (const executed of [50, 130]) expect(keptAt(executed)).toHaveLength(3)
  expect(keptAt(131)).toEqual(['chain_execution_block_number', 'chain_ledger_seq_num'])
})

test('what the journal does not show is absent', () => {
  const nothing = { active: () => new Map(), started: () => new Map(), isPartialRestart: () => null }
  const known = createSampleIndex([])
  expect(journalSamples({ known, serviceRuns: nothing, timers: [], bootedAt: null })).toEqual([])
})

test('messages of consensus with the meaning of one of its events are that event while consensus runs', () => {
  const messages = ['local_timeout', 'vote_created'].map((kind) => ({
    name: 'chain_consensus_messages_total',
    labels: { kind },
    value: 3,
  }))
  expect(withConsensusEvents(messages, true)).toEqual([
    ...messages,
    { name: 'chain_native_events_total', labels: { event: 'local_timeout' }, value: 3 },
  ])
  expect(withConsensusEvents(messages, false)).toEqual(messages)
})
