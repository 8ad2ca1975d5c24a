import { describe, expect, test } from 'vitest'
import { derived } from '../../src/collectors/derived/collector.ts'
import { createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { createDuties } from '../../src/collectors/derived/duties.ts'
import { createSlotCount } from '../../src/collectors/derived/slots.ts'
import type { Outcome } from '../../src/core/outcome.ts'
import { type Sample, sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'

const KEY = `03${'7d'.repeat(32)}`
const NOW = Date.UTC(2026, 2, 1, 12)

/** The derived collector over whatever the others are said to publish. */
const watch = async (publishedKey: string | null = KEY) => {
  const clock = manualClock(NOW)
  let published: readonly Sample[] = []
  let saved: unknown
  const slots = createSlotCount()
  const collector = derived({
    published: () => published,
    slots,
    duties: createDuties(),
    ownKey: createOwnKey(publishedKey),
    blocksyncWindow: 600,
    checkpoint: {
      read: () =>
        Promise.resolve(saved === undefined ? { state: 'none' } : { state: 'saved', value: saved }),
      save: (value) => {
        saved = value
      },
    },
    timing: { interval: 5000, timeout: 5000 },
  })
  let last: Outcome<Parameters<typeof collector.samples>[0]> | undefined
  void collector.run({ clock, signal: new AbortController().signal }, (outcome) => {
    last = outcome
  })
  await clock.advance(0)
  return {
    slots,
    clock,
    /** Publishes, and lets so many seconds pass in steps of the interval. */
    go: async (seconds: number, publish: (second: number) => readonly Sample[]) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        published = publish((clock.now() - NOW) / 1000)
        await clock.advance(5000)
        await clock.advance(0)
      }
    },
    value: (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined => {
      if (!last?.ok) throw last?.error ?? new Error('no reading')
      return collector
        .samples(last.value)
        .find(
          (one) =>
            one.name === name &&
            Object.entries(labels).every(([label, value]) => one.labels[label] === value),
        )?.value
    },
    states: () => (last?.ok ? collector.states(last.value) : {}),
  }
}

/** A node at the head: block 1000 at the beginning, three blocks a second. */
const node = (second: number): readonly Sample[] => [
  sample('chain_ledger_seq_num', 1000 + 3 * second, { event: 'proposed' }),
  sample('chain_ledger_block_timestamp_seconds', NOW / 1000 + second, { event: 'proposed' }),
]
const references = (heights: readonly number[], up = heights.length): readonly Sample[] => [
  ...heights.map((height, index) =>
    sample('chain_reference_block_number', height, { reference: `r${index}` }),
  ),
  ...Array.from({ length: up }, (_, index) =>
    sample('chain_reference_up', 1, { reference: `r${index}` }),
  ),
  sample('chain_reference_agreeing', heights.length),
]
const WINDOW = 'chain_blocksync_window_remaining_blocks'

describe('the window of blocksync', () => {
  test('a node at the head has all of it, and its length in seconds at the measured rate', async () => {
    const { go, value } = await watch()
    await go(60, (second) => [
      ...node(second),
      ...references([1000 + 3 * second, 1000 + 3 * second]),
    ])
    expect(value('chain_blocks_per_second')).toBeCloseTo(3, 6)
    expect(value(WINDOW)).toBe(600)
    expect(value('chain_blocksync_window_remaining_seconds')).toBeCloseTo(200, 3)
  })
  test('a node that stands loses three blocks a second against its references', async () => {
    const { go, value, states } = await watch()
    await go(60, node)
    await go(100, (second) => [...node(55), ...references([1000 + 3 * second, 1000 + 3 * second])])
    // The last turn is at 160 s: it saw what was published at 155 s, 100 seconds past block 1165.
    expect(value(WINDOW)).toBe(300)
    expect(states()).toMatchObject({ 'blocksync window': 'below 450 blocks' })
  })
  test('a node that says nothing any more is where it was', async () => {
    const { go, value } = await watch()
    await go(60, node)
    await go(100, (second) => references([1000 + 3 * second, 1000 + 3 * second]))
    expect(value(WINDOW)).toBe(300)
  })
  test('without references the age of the newest block is counted, at the rate that was measured', async () => {
    const { go, value } = await watch()
    await go(60, node)
    // At 160 s the newest block is the one of the 55th second: 105 s at three a second.
    await go(100, (second) => (second < 110 ? node(55) : []))
    expect(value(WINDOW)).toBe(300)
    const { go: again, value: other } = await watch()
    await again(60, node)
    await again(100, () => node(55))
    expect(other(WINDOW)).toBe(285)
  })
  test('without references a node that follows too slowly is behind by the age of its blocks', async () => {
    const { go, value } = await watch()
    await go(60, node)
    // Two thirds of the pace: at 360 s it has the block of the 257th second.
    await go(300, (second) => node(55 + ((second - 55) * 2) / 3))
    expect(value(WINDOW)).toBeCloseTo(600 - 3 * 105, -1)
  })
  test('without references what the status report says counts, too', async () => {
    const { go, value } = await watch()
    await go(60, (second) => [...node(second), sample('chain_block_difference', 90)])
    expect(value(WINDOW)).toBe(510)
  })
  test('one reference that is mad or of another chain is not the head', async () => {
    const { go, value } = await watch()
    await go(60, (second) => {
      const head = 1000 + 3 * second
      return [...node(second), ...references([head, 9_000_000, head + 2])]
    })
    expect(value(WINDOW)).toBe(598)
  })
  test('references that do not agree are none', async () => {
    const { go, value } = await watch()
    await go(60, (second) => [...node(second), ...references([9_000_000], 3)])
    expect(value(WINDOW)).toBe(600)
  })
  test('unknown at first, and while statesync is under way', async () => {
    const { go, value } = await watch()
    await go(5, () => [])
    expect(value(WINDOW)).toBeUndefined()
    await go(60, (second) => [...node(second), sample('chain_consensus_statesync_active', 1)])
    expect(value(WINDOW)).toBeUndefined()
  })
  test('it ends at 0', async () => {
    const { go, value } = await watch()
    await go(60, (second) => [...node(second), ...references([5000, 5000])])
    expect(value(WINDOW)).toBe(0)
  })
})

describe('statesync', () => {
  const progress = (block: number): readonly Sample[] => [
    sample('chain_native_statesync_progress_block', block),
    sample('chain_native_statesync_target_block', 10_000),
  ]
  test('ten blocks a second, 9,000 to go: 900 seconds', async () => {
    const { go, value } = await watch()
    await go(105, (second) => progress(10 * second))
    expect(value('chain_statesync_eta_seconds')).toBeCloseTo(900, 0)
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBe(NOW / 1000 + 105)
  })
  test('frozen: no ETA once nothing moved for a minute, and when it last moved stays', async () => {
    const { go, value } = await watch()
    await go(105, (second) => progress(10 * second))
    await go(65, () => progress(1000))
    expect(value('chain_statesync_eta_seconds')).toBeUndefined()
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBe(NOW / 1000 + 105)
  })
  test('figures of another source are not held against these', async () => {
    const { go, value } = await watch()
    await go(55, (second) => progress(10 * second))
    await go(70, () => progress(500))
    const report = [
      sample('chain_status_statesync_progress_block', 100),
      sample('chain_status_statesync_target_block', 10_000),
    ]
    await go(5, () => report)
    await go(5, () => progress(500))
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBe(NOW / 1000 + 55)
    expect(value('chain_statesync_eta_seconds')).toBeUndefined()
  })
  test('consensus itself knows that it is over, whatever an old report says', async () => {
    const { go, value } = await watch()
    await go(30, () => [...progress(900), sample('chain_native_statesync_active', 0)])
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBeUndefined()
  })
  test('one that is done, or never was, is none', async () => {
    const { go, value } = await watch()
    await go(30, () => progress(10_000))
    expect(value('chain_statesync_last_progress_timestamp_seconds')).toBeUndefined()
  })
})

test('metrics that stand while the RPC moves are a zombie; while both stand they are not', async () => {
  const { go, value } = await watch()
  const frozen = (advancedAgo: number) => (second: number) => [
    sample('chain_native_frozen', 1),
    sample('chain_rpc_last_advance_timestamp_seconds', NOW / 1000 + second - advancedAgo),
  ]
  await go(5, frozen(2))
  expect(value('chain_native_zombie')).toBe(1)
  await go(5, frozen(31))
  expect(value('chain_native_zombie')).toBe(0)
  await go(5, () => [])
  expect(value('chain_native_zombie')).toBeUndefined()
})

describe('duties', () => {
  test('turns are counted with the share of the stake of that moment', async () => {
    const { go, slots, value } = await watch()
    for (let round = 0; round < 100; round += 1) {
      slots.saw({ isOwn: round % 20 === 0, isTimeout: round % 40 === 0 })
    }
    await go(10, () => [
      sample('chain_native_stake_ratio', 0.06),
      sample('chain_consensus_window_messages', 3, { kind: 'vote_sent' }),
    ])
    expect(value('chain_duty_expected_slots')).toBeCloseTo(6, 9)
    expect(value('chain_duty_slots', { result: 'block' })).toBe(2)
    expect(value('chain_duty_slots', { result: 'timeout' })).toBe(3)
    expect(value('chain_duty_timeout_ratio', { scope: 'own' })).toBeCloseTo(0.6, 9)
    expect(value('chain_duty_timeout_ratio', { scope: 'network' })).toBeCloseTo(0.03, 9)
    expect(value('chain_duty_identity_active', { identity: KEY })).toBe(1)
  })
  test('without a key of our own nothing is said of own turns', async () => {
    const { go, slots, value } = await watch(null)
    slots.saw({ isOwn: false, isTimeout: true })
    await go(10, () => [])
    expect(value('chain_duty_slots')).toBeUndefined()
    expect(value('chain_duty_timeout_ratio', { scope: 'network' })).toBe(1)
  })
  test('when nobody can tell any more, it is unknown, and not inactive', async () => {
    const { go, value } = await watch()
    await go(10, () => [sample('chain_consensus_window_messages', 3, { kind: 'vote_sent' })])
    await go(300, () => [])
    expect(value('chain_duty_identity_active')).toBeUndefined()
  })
  test('a node that does not vote any more is not active after two minutes', async () => {
    const { go, value } = await watch()
    const votes = (count: number) => () => [
      sample('chain_consensus_window_messages', count, { kind: 'vote_sent' }),
    ]
    await go(10, votes(9))
    await go(115, votes(0))
    expect(value('chain_duty_identity_active')).toBe(1)
    await go(20, votes(0))
    expect(value('chain_duty_identity_active')).toBe(0)
  })
})
