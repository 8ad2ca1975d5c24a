import { describe, expect, test } from 'vitest'
import { derived } from '../../src/collectors/derived/collector.ts'
import { createDuties, createRoundCounter } from '../../src/collectors/derived/duties.ts'
import { ownHeight } from '../../src/collectors/derived/estimates.ts'
import { createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { createSampleIndex, type Sample, sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint } from './recording.ts'
import { runPolls } from './run-collector.ts'

const KEY = `03${'7d'.repeat(32)}`
const BOOT = '5f0c6a52-0b1e-4bb6-9d0e-0a3f8f1f7c11'
const NOW = Date.UTC(2026, 2, 1, 12)

interface Node {
  readonly blocksyncWindow?: number | null
  readonly bootId?: string | null
  readonly at?: number
  /** What an earlier agent has saved. */
  readonly saved?: unknown
}

/** Runs the derived collector over published samples. */
const start = async (publishedKey: string | null = KEY, node: Node = {}) => {
  const { blocksyncWindow = 600, bootId = BOOT, at = NOW } = node
  const clock = manualClock(at)
  let published: readonly Sample[] = []
  const checkpoint = memoryCheckpoint(node.saved)
  const rounds = createRoundCounter()
  const collector = derived({
    published: () => published,
    roundCounter: rounds,
    duties: createDuties(),
    ownKey: createOwnKey(publishedKey),
    blocksyncWindow,
    readBootId: () => Promise.resolve(bootId === null ? null : `${bootId}\n`),
    checkpoint,
    timing: { interval: 5000, timeout: 5000 },
  })
  const { samples, stop } = await runPolls(collector, clock)
  const series = (name: string): readonly Sample[] => samples().filter((one) => one.name === name)
  return {
    rounds,
    clock,
    /** Publishes samples while N seconds pass in steps of the interval. */
    run: async (seconds: number, publish: (second: number) => readonly Sample[]) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        published = publish((clock.now() - NOW) / 1000)
        await clock.advance(5000)
        await clock.advance(0)
      }
    },
    value: (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
      series(name).find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value,
    series,
    /** Stops the collector, and returns what it has saved. */
    stop: async (): Promise<unknown> => {
      await stop()
      return checkpoint.saved()
    },
  }
}

/** A node at the head: block 1000 at the beginning, three blocks a second. */
const atHead = (second: number): readonly Sample[] => [
  sample('chain_ledger_seq_num', 1000 + 3 * second, { event: 'proposed' }),
  sample('chain_ledger_block_timestamp_seconds', NOW / 1000 + second, { event: 'proposed' }),
]

const references = (heights: readonly number[], up = heights.length): readonly Sample[] => [
  ...heights.map((height, index) => sample('chain_reference_block_number', height, { reference: `r${index}` })),
  ...Array.from({ length: up }, (_, index) => sample('chain_reference_up', 1, { reference: `r${index}` })),
  sample('chain_reference_agreeing', heights.length),
]
const WINDOW = 'chain_blocksync_window_remaining_blocks'

describe('the blocksync window', () => {
  test('a node at the head has the whole window, in blocks and in seconds at the measured rate', async () => {
    const { run, value } = await start()
    await run(60, (second) => [...atHead(second), ...references([1000 + 3 * second, 1000 + 3 * second])])
    expect(value('chain_blocks_per_second')).toBeCloseTo(3, 6)
    expect(value(WINDOW)).toBe(600)
    expect(value('chain_blocksync_window_remaining_seconds')).toBeCloseTo(200, 3)
  })
  type Phase = readonly [seconds: number, publish: (second: number) => readonly Sample[]]
  const leftAfter = async (...phases: readonly Phase[]): Promise<number | undefined> => {
    const { run, value } = await start()
    for (const [seconds, publish] of phases) await run(seconds, publish)
    return value(WINDOW)
  }
  const headOf = (second: number): number => 1000 + 3 * second
  const agreed = (second: number): readonly Sample[] => references([headOf(second), headOf(second)])
  const wrong = (second: number): readonly Sample[] => references([headOf(second), 9_000_000, headOf(second) + 2])
  const AT_HEAD: Phase = [60, atHead]
  const andAlso = (...more: readonly Sample[]) => [[60, (second: number) => [...atHead(second), ...more]]] as const
  // The last poll is at 160 s, and reads the samples of 155 s.
  test.each<readonly [string, readonly Phase[], number]>([
    ['a stalled node: 100 s after its block', [AT_HEAD, [100, (second) => [...atHead(55), ...agreed(second)]]], 300],
    ['a node that stops reporting keeps its last height', [AT_HEAD, [100, agreed]], 300],
    ['without references the age of the newest block', [AT_HEAD, [100, () => atHead(55)]], 285],
    ['the same once it stops reporting', [AT_HEAD, [100, (second) => (second < 110 ? atHead(55) : [])]], 300],
    ['without references the difference in the status report', andAlso(sample('chain_block_difference', 90)), 510],
    ['of three references a wrong one', [[60, (second) => [...atHead(second), ...wrong(second)]]], 598],
    ['one of three references is not the head', andAlso(...references([9_000_000], 3)), 600],
    ['it does not go below 0', andAlso(...references([5000, 5000])), 0],
  ])('%s', async (_, phases, left) => {
    expect(await leftAfter(...phases)).toBe(left)
  })
  test('without references the lag of a slow node is the age of its blocks', async () => {
    // Two thirds of the pace: at 360 s it has the block of the 257th second.
    const slow = (second: number): readonly Sample[] => atHead(55 + ((second - 55) * 2) / 3)
    expect(await leftAfter(AT_HEAD, [300, slow])).toBeCloseTo(600 - 3 * 105, -1)
  })
  test('unknown at first, and while statesync is running', async () => {
    const { run, value } = await start()
    await run(5, () => [])
    expect(value(WINDOW)).toBeUndefined()
    await run(60, (second) => [...atHead(second), sample('chain_consensus_statesync_active', 1)])
    expect(value(WINDOW)).toBeUndefined()
  })
  test('its size: 800 by default, and of 800, 1,000 and 3/2 of the setting of the node the smallest', async () => {
    const sizeOf = async (configured: number | null, setting?: number) => {
      const { run, value } = await start(KEY, { blocksyncWindow: configured })
      const read = setting === undefined ? [] : [sample('chain_node_statesync_threshold_blocks', setting)]
      await run(10, () => read)
      return value('chain_blocksync_window_blocks')
    }
    expect(await sizeOf(null)).toBe(800)
    expect(await sizeOf(null, 600)).toBe(800)
    expect(await sizeOf(null, 533)).toBe(799)
    expect(await sizeOf(null, 301)).toBe(451)
    expect(await sizeOf(null, 5000)).toBe(800)
    // Configured, it is what the configuration has.
    expect(await sizeOf(650, 301)).toBe(650)
  })
})

describe('statesync', () => {
  const progress = (block: number): readonly Sample[] => [
    sample('chain_native_statesync_progress_block', block),
    sample('chain_native_statesync_target_block', 10_000),
  ]
  test('ten blocks a second, 9,000 remaining: 900 seconds', async () => {
    const { run, value } = await start()
    await run(105, (second) => progress(10 * second))
    expect(value('chain_statesync_eta_seconds')).toBeCloseTo(900, 0)
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBe(NOW / 1000 + 105)
    // Stalled: no ETA after a minute, and the time of the last progress is kept.
    await run(65, () => progress(1000))
    expect(value('chain_statesync_eta_seconds')).toBeUndefined()
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBe(NOW / 1000 + 105)
  })
  test('values of different sources are not compared', async () => {
    const { run, value } = await start()
    await run(55, (second) => progress(10 * second))
    await run(70, () => progress(500))
    const report = [
      sample('chain_status_statesync_progress_block', 100),
      sample('chain_status_statesync_target_block', 10_000),
    ]
    await run(5, () => report)
    await run(5, () => progress(500))
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBe(NOW / 1000 + 55)
    expect(value('chain_statesync_eta_seconds')).toBeUndefined()
  })
  test('the metrics of consensus show the end, even if an old report differs', async () => {
    const { run, value } = await start()
    await run(30, () => [...progress(900), sample('chain_native_statesync_active', 0)])
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBeUndefined()
  })
  test('a statesync that is done, or was never needed, is not running', async () => {
    const { run, value } = await start()
    await run(30, () => progress(10_000))
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBeUndefined()
  })
})

test('unchanged metrics while the RPC advances are a zombie; while both are stalled they are not', async () => {
  const { run, value } = await start()
  const frozen = (advancedAgo: number) => (second: number) => [
    sample('chain_native_frozen', 1),
    sample('chain_rpc_last_advance_timestamp_seconds', NOW / 1000 + second - advancedAgo),
  ]
  await run(5, frozen(2))
  expect(value('chain_native_zombie')).toBe(1)
  await run(5, frozen(31))
  expect(value('chain_native_zombie')).toBe(0)
  await run(5, () => [])
  expect(value('chain_native_zombie')).toBeUndefined()
})

describe('duties', () => {
  const MEMBER = sample('chain_native_stake_ratio', 0.06)
  const inLog = (votes: number) => sample('chain_consensus_window_messages', votes, { kind: 'vote_created' })
  const counted = (votes: number) => sample('chain_native_events_total', votes, { event: 'vote_created' })
  test('rounds led are expected by the share of the stake at that time', async () => {
    const { run, rounds, value } = await start()
    for (let round = 0; round < 100; round += 1) rounds.add({ isOwn: round % 20 === 0, isTimeout: round % 40 === 0 })
    await run(10, () => [MEMBER, inLog(3)])
    expect(value('chain_duty_expected_slots')).toBeCloseTo(6, 9)
    expect(value('chain_duty_slots', { result: 'block' })).toBe(2)
    expect(value('chain_duty_slots', { result: 'timeout' })).toBe(3)
    expect(value('chain_duty_timeout_ratio', { scope: 'own' })).toBeCloseTo(0.6, 9)
    expect(value('chain_duty_timeout_ratio', { scope: 'network' })).toBeCloseTo(0.03, 9)
    expect(value('chain_duty_identity_active', { identity: KEY, boot: BOOT })).toBe(1)
  })
  test('the ratio of no own rounds is unknown', async () => {
    const { run, rounds, value } = await start()
    rounds.add({ isOwn: false, isTimeout: false })
    await run(10, () => [MEMBER, inLog(3)])
    expect(value('chain_duty_timeout_ratio', { scope: 'network' })).toBe(0)
    expect(value('chain_duty_slots', { result: 'block' })).toBe(0)
    expect(value('chain_duty_timeout_ratio', { scope: 'own' })).toBeUndefined()
  })
  test('without the own key there are no series of own rounds', async () => {
    const { run, rounds, value } = await start(null)
    rounds.add({ isOwn: false, isTimeout: true })
    await run(10, () => [])
    expect(value('chain_duty_slots')).toBeUndefined()
    expect(value('chain_duty_timeout_ratio', { scope: 'network' })).toBe(1)
  })
  test('without a source it is unknown, not inactive', async () => {
    const { run, value } = await start()
    await run(10, () => [inLog(3)])
    await run(300, () => [])
    expect(value('chain_duty_identity_active')).toBeUndefined()
  })
  test('two agents without a boot ID count as two hosts', async () => {
    const bootsOf = async () => {
      const { run, series } = await start(KEY, { bootId: null })
      await run(10, () => [MEMBER, inLog(3)])
      return series('chain_duty_identity_active').map(({ labels }) => labels['boot'])
    }
    const one = await bootsOf()
    expect(one).toHaveLength(1)
    expect(one).not.toEqual(await bootsOf())
  })
  test('a node that stops voting is inactive after two minutes', async () => {
    const { run, value } = await start()
    await run(10, () => [MEMBER, inLog(9)])
    await run(115, () => [MEMBER, inLog(0)])
    expect(value('chain_duty_identity_active')).toBe(1)
    await run(20, () => [MEMBER, inLog(0)])
    expect(value('chain_duty_identity_active')).toBe(0)
  })
  test('a counter of votes that begins again, as after a restart, is no vote', async () => {
    const { run, value } = await start()
    await run(10, (second) => [MEMBER, counted(1000 + second)])
    await run(60, () => [MEMBER, counted(1010)])
    expect(value('chain_duty_identity_active')).toBe(1)
    await run(70, () => [MEMBER, counted(0)])
    expect(value('chain_duty_identity_active')).toBe(0)
  })
  test('a full node computes a vote in every round and does not sign; own blocks do', async () => {
    const { run, rounds, value } = await start()
    const outside = sample('chain_native_stake_ratio', 0)
    const votes = (second: number): readonly Sample[] => [outside, counted(1000 + 3 * second), inLog(180)]
    await run(130, votes)
    expect(value('chain_duty_identity_active')).toBe(0)
    rounds.add({ isOwn: false, isTimeout: false })
    await run(10, votes)
    rounds.add({ isOwn: true, isTimeout: false })
    await run(10, votes)
    expect(value('chain_duty_identity_active')).toBe(1)
  })
  test('without a stake the staking precompile shows whether votes are sent', async () => {
    const { run, value } = await start()
    await run(10, () => [inLog(180), sample('chain_staking_active', 1)])
    expect(value('chain_duty_identity_active')).toBe(1)
    const other = await start()
    await other.run(130, () => [inLog(180), sample('chain_staking_active', 0)])
    expect(other.value('chain_duty_identity_active')).toBe(0)
  })
})

const started = (second: number): Sample =>
  sample('chain_service_start_timestamp_seconds', NOW / 1000 + second, { service: 'bft' })

/** Consensus ran for an hour; it is down from second 30 on, starts at 38, and has caught up at 60. */
const restarted = (second: number): readonly Sample[] => [
  started(second < 40 ? -3600 : 38),
  ...atHead(second < 30 || second >= 60 ? second : 30),
]

describe('the time of a start', () => {
  test('is unknown before the first start, and then lasts until a fresh block', async () => {
    const { run, value } = await start()
    await run(60, restarted)
    expect(value('chain_last_start_seconds')).toBeUndefined()
    // The samples of second 60 are read at 65: 27 s after the start.
    await run(10, restarted)
    expect(value('chain_last_start_seconds')).toBe(27)
    await run(60, restarted)
    expect(value('chain_last_start_seconds')).toBe(27)
  })

  test('a start that leads to statesync does not count', async () => {
    const { run, value } = await start()
    await run(90, (second) => [
      ...restarted(second),
      sample('chain_native_statesync_active', second >= 40 && second < 55),
    ])
    expect(value('chain_last_start_seconds')).toBeUndefined()
  })

  test('a block from before the start does not end it', async () => {
    const { run, value } = await start()
    // Started at 34; the newest block is of second 30 and looks fresh until 40.
    await run(40, (second) => [started(second < 35 ? -3600 : 34), ...atHead(Math.min(second, 30))])
    expect(value('chain_last_start_seconds')).toBeUndefined()
  })
})

test('after a restart of the agent all that took hours is known at the first reading', async () => {
  const before = await start()
  for (let round = 0; round < 100; round += 1) before.rounds.add({ isOwn: false, isTimeout: round % 4 === 0 })
  const reading = (second: number): readonly Sample[] => [
    ...restarted(second),
    // From 50 %, 0.01 % in 10 s.
    sample('chain_execution_storage_used_ratio', 0.5 + Math.floor(second / 10) / 10_000),
    sample('chain_consensus_window_messages', 3, { kind: 'vote_created' }),
    sample('chain_native_stake_ratio', 0.06),
  ]
  await before.run(200, reading)
  // After the last save of each minute.
  for (let round = 0; round < 25; round += 1) before.rounds.add({ isOwn: false, isTimeout: false })
  await before.run(5, reading)
  const known = ({ value }: typeof before) => ({
    timeouts: value('chain_duty_timeout_ratio', { scope: 'network' }),
    lastStart: value('chain_last_start_seconds'),
    isSigning: value('chain_duty_identity_active', { identity: KEY }),
  })
  expect(known(before)).toEqual({ timeouts: 0.2, lastStart: 27, isSigning: 1 })
  // The own key is not known yet: it comes with the status report.
  const after = await start(null, { at: before.clock.now(), saved: await before.stop() })
  await after.run(5, reading)
  expect(known(after)).toEqual(known(before))
  // From 50.2 % to 80 % at 0.001 % a second; the steps of 0.01 % make it less exact.
  expect((after.value('chain_storage_compaction_eta_seconds') ?? 0) / 29_800).toBeCloseTo(1, 1)
})

test('while execution is down, the height is that of the state: a start continues from it', () => {
  const services = (isActive: boolean) => [
    sample('chain_service_active', isActive, { service: 'execution' }),
    sample('chain_service_expected', 1, { service: 'execution' }),
  ]
  const consensus = sample('chain_ledger_seq_num', 1200, { event: 'proposed' })
  const executed = sample('chain_execution_block_number', 1000)
  const heightOf = (...samples: readonly Sample[]) => ownHeight(createSampleIndex(samples))
  expect(heightOf(...services(true), consensus, executed)).toBe(1200)
  expect(heightOf(...services(false), consensus, executed)).toBe(1000)
  // Nothing is known of the state.
  expect(heightOf(...services(false), consensus)).toBe(1200)
})
