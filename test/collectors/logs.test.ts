import { describe, expect, test } from 'vitest'
import { logs } from '../../src/collectors/logs/collector.ts'
import { createUnitNames } from '../../src/collectors/shared/node-state.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import { LOG_STATES } from '../../src/domain/log-state.ts'
import { LOG_PATTERN } from '../../src/parsers/log-patterns/classify.ts'
import { NO_UNIT_LOGS, type UnitLog, type UnitLogs } from '../../src/collectors/shared/unit-logs.ts'
import { entry, T0 } from './consensus-log.ts'
import { execOf } from './run-collector.ts'
import { type FollowerDependencies, runFollower, type Step } from './run-follower.ts'

/** A batch without entries. */
const MINUTE = { seconds: 60 }
const UNITS = { bft: '{prefix}-bft.service', execution: '{prefix}-execution.service', cruft: '{prefix}-cruft.service' }
const of = (service: string, message: string, at = T0): JournalEntry => ({
  ...entry(at, message, { _PID: service === 'bft' ? '40' : '41' }),
  unit: `zephyr-${service}.service`,
})
const ASSERTION = "zephyr: a.cpp:1: f(): Assertion 'x' failed."

interface World {
  readonly steps: readonly Step[]
  readonly stderr?: string
  readonly oldest?: (unit: string) => Promise<JournalEntry>
  /** Of bft, by systemd; it answers for no other unit. */
  readonly log?: UnitLog
  /** The arguments of journalctl that depend on systemd. */
  readonly systemd?: () => Promise<readonly string[]>
  /** The newest entries of bft, one for each time that they are read. */
  readonly newest?: (JournalEntry | undefined)[]
}

/** Started an hour ago. */
const RUNNING: UnitLog = { namespace: null, output: 'journal', startedAt: T0 - 3_600_000, isActive: true }

/** Runs the collector over these steps, and shows what it had to say after each. */
const run = async ({ steps, stderr = '', oldest, log = RUNNING, newest = [], systemd }: World) => {
  const oldestRequests: (readonly string[])[] = []
  const newestRequests: (readonly string[])[] = []
  const unitLogs: UnitLogs = {
    ...NO_UNIT_LOGS,
    of: (unit) => Promise.resolve(unit === 'zephyr-bft.service' ? log : undefined),
    scope: () => systemd?.() ?? Promise.resolve(log.namespace === null ? [] : [`--namespace=+${log.namespace}`]),
  }
  const create = (dependencies: FollowerDependencies) =>
    logs({
      ...dependencies,
      exec: execOf(() => Promise.resolve({ exitCode: 0, stdout: '', stderr })),
      readOldest: (match) => {
        oldestRequests.push(match)
        const [unit = ''] = match
        return oldest?.(unit) ?? Promise.resolve(entry(T0 - 90_000, ''))
      },
      readNewest: (match) => {
        newestRequests.push(match)
        return Promise.resolve(newest.shift())
      },
      unitLogs,
      serviceUnits: {},
      unitNames: createUnitNames(() => Promise.resolve({ word: 'zephyr', from: 'configuration' }), unitLogs),
      units: UNITS,
    })
  // The first reading waits for the first survey, which ends at its deadline.
  const followed = await runFollower(create, { beginsAt: T0, steps, wait: systemd ? 12_000 : 0 })
  const [, ...states] = followed.history
  return { ...followed, states, oldestRequests, newestRequests }
}

const OLDEST = 'chain_log_oldest_entry_timestamp_seconds'

test('follows all units at once, with the filter', async () => {
  const { requests } = await run({ steps: [MINUTE] })
  const units = ['bft', 'execution', 'cruft'].flatMap((word) => ['-u', `zephyr-${word}.service`])
  expect(requests).toMatchObject([{ match: [...units, `--grep=${LOG_PATTERN}`] }])
})

test('journalctl without PCRE2 does not filter; the collector ignores other lines', async () => {
  const { requests, states, total } = await run({
    steps: [[of('execution', ASSERTION), of('execution', '      0x12'), of('execution', 'why')]],
    stderr: 'Compiled without pattern matching support',
  })
  expect(requests[0]?.match.some((word) => word.startsWith('--grep'))).toBe(false)
  expect(total('chain_log_pattern_total{service=execution,pattern=assertion}')).toBe(1)
  expect(states.at(-1)).toMatchObject({ 'execution log': 'assertion: why' })
})

test('the state of each service lists recent failures, and ends', async () => {
  const quiet = Array.from({ length: 11 }, () => MINUTE)
  const { states } = await run({
    newest: [entry(T0, '')],
    steps: [
      [of('bft', 'nothing')],
      [of('execution', ASSERTION), of('bft', 'other'), of('execution', 'blocks diverge')],
      ...quiet,
    ],
  })
  const unknown = 'not read: no entry of it was found, or its log was not examined yet'
  const healthy = { 'bft log': 'no failures', 'execution log': unknown, 'cruft log': unknown }
  expect(states[0]).toEqual(healthy)
  expect(states[1]).toEqual({ ...healthy, 'execution log': 'assertion: blocks diverge' })
  expect(states[11]).toEqual(states[1]) // ten minutes later
  expect(states[12]).toEqual(healthy)
})

test('an entry of another unit is not counted', async () => {
  const { total } = await run({ steps: [[of('rpc', ASSERTION)]] })
  expect(total('chain_log_pattern_total{service=rpc,pattern=assertion}')).toBeUndefined()
  expect(total('chain_log_pattern_total{service=execution,pattern=assertion}')).toBe(0)
})

const OTHER = [of('rpc', 'x')]
const NOTHING = new SourceError({ doing: 'look', happened: 'nothing' })

describe('the state of a log', () => {
  const stateOf = (samples: Readonly<Record<string, number>>) =>
    LOG_STATES.filter((state) => samples[`chain_agent_log_state bft ${state}`] === 1)
  const [before, since] = [entry(T0 - 3_700_000, ''), entry(T0 - 3_500_000, '')]

  const NOT_RUNNING = 'no entry of it was found, or'
  const NO_ENTRY = 'the journal has no entry of it since its start'
  const FILE = { ...RUNNING, output: 'append' }
  const TO_FILE = 'systemd does not send its output to the journal'
  const STARTED = { ...RUNNING, startedAt: T0 - 240_000 }
  test.each([
    { name: 'an entry since the start', newest: since, states: ['read'], text: 'no failures', counted: 0 },
    { name: 'an entry from before it', newest: before, states: ['no entries'], text: NO_ENTRY },
    { name: 'no entry', states: ['no entries'], text: NO_ENTRY },
    { name: 'no entry, and output to a file', log: FILE, states: ['other output'], text: TO_FILE },
    // The program writes to the journal itself.
    {
      name: 'an entry, and output to a file',
      log: FILE,
      newest: since,
      states: ['read'],
      text: 'no failures',
      counted: 0,
    },
    { name: 'no entry, and a start four minutes ago', log: STARTED, states: [], text: NOT_RUNNING, counted: 0 },
    { name: 'no process', log: { ...RUNNING, isActive: false }, states: [], text: NOT_RUNNING, counted: 0 },
  ])('$name', async ({ log = RUNNING, newest, states: expected, text, counted }) => {
    const { samples, states, total } = await run({ steps: [OTHER], log, newest: [newest] })
    expect(stateOf(samples)).toEqual(expected)
    expect(states[0]?.['bft log']).toContain(text)
    expect(total('chain_log_pattern_total{service=bft,pattern=wal_stopped}')).toBe(counted)
  })

  test('an entry that the follower reads later starts the counters; it is not looked for again', async () => {
    const { samples, total, newestRequests, oldestRequests } = await run({
      steps: [OTHER, MINUTE, [of('bft', 'x')], MINUTE, MINUTE, MINUTE],
      newest: [undefined, since],
      oldest: (unit) => (unit.includes('bft') ? Promise.reject(NOTHING) : Promise.resolve(before)),
    })
    expect(stateOf(samples)).toEqual(['read'])
    expect(total('chain_log_pattern_total{service=bft,pattern=wal_stopped}')).toBe(0)
    expect(newestRequests).toHaveLength(2)
    // Of three services, at the start and after the entry.
    expect(oldestRequests).toHaveLength(6)
  })

  test.each([
    ['it runs', RUNNING],
    ['its output is a file', FILE],
    ['it has stopped', { ...RUNNING, isActive: false }],
  ])('without an entry that the follower reads, one is looked for every ten minutes: %s', async (_, log) => {
    const quiet = (length: number) => Array.from({ length }, () => MINUTE)
    const { newestRequests } = await run({ steps: [OTHER, ...quiet(9)], log })
    expect(newestRequests).toHaveLength(1)
    const { samples } = await run({ steps: [OTHER, ...quiet(11)], log, newest: [undefined, since] })
    expect(stateOf(samples)).toEqual(['read'])
  })

  test('a unit that was starting is looked at again when it runs', async () => {
    let surveys = 0
    const log = {
      ...RUNNING,
      get isActive() {
        surveys += 1
        return surveys > 1
      },
    }
    const { samples } = await run({ steps: [OTHER, MINUTE, OTHER], log })
    expect(stateOf(samples)).toEqual(['no entries'])
  })

  test('an entry from before the start does not cause a survey', async () => {
    const { newestRequests } = await run({ steps: [OTHER, [of('bft', 'x', before.at)], OTHER] })
    expect(newestRequests).toHaveLength(1)
  })

  test('the log of a service that has stopped is that of its last run: a clean-up that a timer starts', async () => {
    const log = { ...RUNNING, isActive: false }
    const { samples, states, newestRequests } = await run({ steps: [OTHER, MINUTE, MINUTE], log, newest: [since] })
    expect(stateOf(samples)).toEqual(['read'])
    expect(states.at(-1)).toMatchObject({ 'bft log': 'no failures' })
    expect(newestRequests).toHaveLength(1)
  })

  test('the journal namespace of a unit is read', async () => {
    const log = { ...RUNNING, namespace: 'node' }
    const { requests, newestRequests, oldestRequests } = await run({ steps: [OTHER], log })
    expect(requests[0]?.match.slice(0, 3)).toEqual(['--namespace=+node', '-u', 'zephyr-bft.service'])
    expect(newestRequests).toEqual([['--namespace=+node', '_SYSTEMD_UNIT=zephyr-bft.service']])
    expect(oldestRequests[0]).toEqual(['--namespace=+node', '_SYSTEMD_UNIT=zephyr-bft.service'])
  })
})

// -u also selects the entries of systemd about the unit, which may outlive those of the unit in another file.
test('reads the oldest entry of the unit itself every ten minutes', async () => {
  const { oldestRequests, samples } = await run({
    steps: [[of('bft', 'x')], [of('bft', 'y')], ...Array.from({ length: 10 }, () => MINUTE)],
  })
  const once = ['bft', 'execution', 'cruft'].map((word) => [`_SYSTEMD_UNIT=zephyr-${word}.service`])
  expect(oldestRequests).toEqual([...once, ...once])
  expect(samples).toMatchObject({
    [`${OLDEST} bft`]: T0 / 1000 - 90,
    [`${OLDEST} cruft`]: T0 / 1000 - 90,
    'chain_agent_journal_last_entry_timestamp_seconds logs': T0 / 1000,
  })
})

test('a service whose oldest entry cannot be read has none; the others have one, and all are read every ten minutes', async () => {
  const { samples, oldestRequests } = await run({
    newest: [entry(T0, '')],
    steps: [[of('bft', 'x')], MINUTE, MINUTE],
    oldest: (unit) => (unit.includes('bft') ? Promise.reject(NOTHING) : Promise.resolve(entry(T0 - 5000, ''))),
  })
  expect(oldestRequests).toHaveLength(3)
  expect(samples[`${OLDEST} execution`]).toBe(T0 / 1000 - 5)
  expect(samples).not.toHaveProperty([`${OLDEST} bft`])
})

test('a read that hangs does not block the follower, and clears the previous values', async () => {
  let reads = 0
  const { samples, states } = await run({
    steps: [[of('bft', 'x')], ...Array.from({ length: 11 }, () => MINUTE), [of('execution', ASSERTION, T0 + 660_000)]],
    oldest: () => {
      reads += 1
      return reads <= 3 ? Promise.resolve(entry(T0, '')) : new Promise(() => undefined)
    },
  })
  expect(states.at(-1)).toMatchObject({ 'execution log': `assertion: ${ASSERTION}` })
  expect(Object.keys(samples).filter((name) => name.startsWith(OLDEST))).toEqual([])
})

test('a systemd that hangs does not end the survey: it begins again', async () => {
  let asked = 0
  const { samples } = await run({
    steps: [OTHER, ...Array.from({ length: 3 }, () => MINUTE)],
    newest: [entry(T0, '')],
    systemd: () => {
      asked += 1
      return asked === 1 ? new Promise(() => undefined) : Promise.resolve([])
    },
  })
  expect(samples['chain_agent_log_state bft read']).toBe(1)
})

test('a bug in reading the oldest entry fails the collector', async () => {
  const oldest = () => Promise.reject(new TypeError('not a function'))
  await expect(run({ steps: [[of('bft', 'x')], MINUTE, [of('bft', 'y')]], oldest })).rejects.toThrow('not a function')
})

test('counts new entries after the clock of the host went back behind the start of the agent', async () => {
  const back = 2_400_000
  const line = (at: number) => [of('execution', ASSERTION, at)]
  const steps = [line(T0 - 5000), MINUTE, { clockOffset: -back }, line(T0 + 60_000 - back)]
  const { total, states } = await run({ steps })
  expect(total('chain_log_pattern_total{service=execution,pattern=assertion}')).toBe(1)
  expect(states.at(-1)?.['execution log']).toContain('assertion: ')
})

test('counts each entry once while the clock of the host is set by two days, ahead and back, during the follow', async () => {
  const [days, after] = [2 * 86_400_000, T0 + 60_000]
  const line = (at: number) => [of('execution', ASSERTION, at)]
  const steps = [
    MINUTE,
    line(after),
    { clockOffset: days },
    // Written before the step, read after it; then one with the new time.
    line(after + 1),
    line(after + days),
    { clockOffset: 0 },
    line(after + days + 1),
    line(after + 2),
    { clockOffset: -days },
    line(after + 3),
    line(after - days),
    { clockOffset: 0 },
    line(after + 4),
    MINUTE,
  ]
  const { total, states, samples } = await run({ steps })
  expect(total('chain_log_pattern_total{service=execution,pattern=assertion}')).toBe(8)
  expect(states.at(-1)?.['execution log']).toContain('assertion: ')
  expect(Object.entries(samples).filter(([, value]) => !(value >= 0))).toEqual([])
})
