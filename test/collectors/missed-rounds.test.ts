import { expect, test } from 'vitest'
import { createRoundLog } from '../../src/collectors/consensus/round-log.ts'
import { createMissedRounds, parseMissedRounds } from '../../src/collectors/schedule/missed-rounds.ts'
import { createRoundReadings } from '../../src/collectors/schedule/round-readings.ts'
import { createSampleIndex } from '../../src/core/metric.ts'
import { second } from '../../src/core/units.ts'
import { memoryCheckpoint } from './recording.ts'

const OWN = `02${'aa'.repeat(32)}`
const OTHER = `03${'bb'.repeat(32)}`
const T0 = Date.UTC(2026, 2, 1, 12)
const NOTHING = createSampleIndex([])

const start = (before?: unknown) => {
  const checkpoint = memoryCheckpoint(before)
  const missed = createMissedRounds(createRoundLog(), checkpoint)
  const context = (isOwn: (round: bigint) => boolean = () => false) => ({ ownKey: OWN, now: T0, isOwn })
  return {
    ...missed,
    saved: () => parseMissedRounds(checkpoint.saved()),
    block: (round: bigint, parentRound: bigint, more: { author?: string; seqNum?: bigint; own?: bigint } = {}) => {
      const { author = OTHER, seqNum = round, own } = more
      const block = { epoch: 7n, parentRound, seqNum, blockAt: T0 + Number(round) }
      missed.add(
        { round, author, block, isOld: false },
        context((one) => one === own),
      )
    },
    timeout: (round: bigint, author = OWN) => {
      missed.add({ round, author, block: null, isOld: false }, context())
    },
    /** The rounds that are classified once the readings after them exist. */
    rounds: () => {
      missed.evaluate(NOTHING, OWN, T0 + 29_999)
      expect(missed.all()).toEqual([])
      missed.evaluate(NOTHING, OWN, T0 + 30_000)
      return missed.all().map(({ round }) => round)
    },
  }
}

test('a timeout of the own round counts once the next block does not have it as an ancestor', () => {
  const { block, timeout, rounds, saved } = start()
  block(100n, 99n)
  timeout(101n)
  timeout(102n, OTHER)
  block(103n, 100n)
  expect(rounds()).toEqual([101n])
  expect(saved()).toEqual([
    { round: 101n, at: T0 + 103, class: 'unknown', figures: ['the consensus log has no rounds of that time'] },
  ])
})

test('a block of the round after its timeout is not missed; a round without any line is own by the schedule', () => {
  const { block, timeout, rounds } = start()
  timeout(101n)
  block(101n, 100n, { author: OWN })
  block(104n, 101n, { own: 103n })
  expect(rounds()).toEqual([103n])
})

test('an own block is abandoned if a later block has its height; a block on top of it keeps it', () => {
  const { block, rounds } = start()
  block(101n, 100n, { author: OWN, seqNum: 501n })
  block(102n, 100n, { seqNum: 501n })
  block(103n, 102n, { author: OWN, seqNum: 502n })
  block(104n, 103n, { seqNum: 503n })
  expect(rounds()).toEqual([101n])
})

test('saved classes are kept, the newest thousand, and each round has one', async () => {
  const miss = { at: T0 - 1000, class: 'votes', figures: [] }
  const old = Array.from({ length: 1000 }, (_, index) => ({ ...miss, round: `${index}` }))
  const { block, timeout, restore, evaluate, all, saved } = start(old)
  await restore()
  timeout(999n)
  block(1000n, 998n)
  timeout(1001n)
  block(1002n, 1000n)
  evaluate(NOTHING, OWN, T0 + 30_000)
  expect(all().map(({ round }) => round)).toEqual(
    Array.from({ length: 999 }, (_, index) => BigInt(index + 1)).concat(1001n),
  )
  expect(saved()).toEqual(all())
})

test('a checkpoint of another form is empty', () => {
  expect(parseMissedRounds({ epoch: '1' })).toEqual([])
  expect(parseMissedRounds([{ round: '1', at: 1, class: 'a guess', figures: [] }])).toEqual([])
})

const DOWN = 'the service of consensus was not active'

/** Whether consensus was active, by the seconds since the round. */
test.each([
  ['stopped after the round', [1, 1, 1, 1, 0], null],
  ['stopped between the two readings around the round', [1, 1, 0, 0, 0], null],
  ['not active before and after the round', [1, 0, 0, 0, 1], DOWN],
  ['not active at the reading before the round', [1, 0, 1, 1, 1], DOWN],
  ['active again before the round', [0, 1, 1, 1, 1], null],
])('a service that was %s: %j', (_, active, expected) => {
  const readings = createRoundReadings()
  const seconds = [-26, -11, 4, 19, 34]
  for (const [index, value] of active.entries()) {
    const known = createSampleIndex([{ name: 'chain_service_active', labels: { service: 'bft' }, value }])
    readings.add(known, T0 + (seconds[index] ?? 0) * second)
  }
  expect(readings.around(T0).outage).toBe(expected)
})

/** Counters at the readings before and after a round, which are 45 s apart. */
test.each([
  ['that increase', [10, 1000, 100, 3], [11, 1099, 109, 5], { udp: 0.01, disk: 0.2, lagging: 2 }],
  ['that begin again', [10, 1000, 100, 3], [5, 95, 50, 1], { udp: null, disk: null, lagging: null }],
])('counters %s', (...[, before, after, expected]) => {
  const readings = createRoundReadings()
  const each = [[-15, before] as const, [30, after] as const]
  for (const [seconds, [errors = 0, received = 0, stalled = 0, value = 0]] of each) {
    const known = createSampleIndex([
      { name: 'chain_host_udp_errors_total', labels: { kind: 'receive_buffer' }, value: errors },
      { name: 'chain_host_udp_received_total', labels: {}, value: received },
      { name: 'chain_host_pressure_stalled_seconds_total', labels: { resource: 'io' }, value: stalled },
      { name: 'chain_native_events_total', labels: { event: 'execution_lagging' }, value },
    ])
    readings.add(known, T0 + seconds * second)
  }
  const { udpDropRatio: udp, diskStalledRatio: disk, executionLagging: lagging } = readings.around(T0)
  expect({ udp, disk, lagging }).toEqual(expected)
})
