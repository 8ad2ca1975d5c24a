import { describe, expect, test } from 'vitest'
import { createRoundHistory } from '../../../src/commands/duties/rounds.ts'
import { createRounds } from '../../../src/commands/ledger/ledger.ts'
import { createLeaderSchedule } from '../../../src/domain/leader-schedule.ts'
import { parseLedgerLine } from '../../../src/parsers/ledger-tail.ts'
import { finalized, NOON, type Proposal, proposed, timeout } from '../ledger/stream.ts'

const KEYS = ['aa', 'bb', 'cc'].map((byte) => `02${byte.repeat(32)}`)
const [OWN = '', OTHER = '', THIRD = ''] = KEYS
const MEMBERS = KEYS.map((secpKey) => ({ secpKey, stake: 10n ** 25n }))
const leaders = createLeaderSchedule(MEMBERS)

/** One round a second. */
const at = (round: number): number => NOON + round * 1000

const stream = (own: string | null = OWN, sets: Parameters<typeof createRoundHistory>[1] = []) => {
  const rounds = createRounds(own)
  const history = createRoundHistory(own, sets)
  const add = (line: string): void => {
    const event = parseLedgerLine(line)
    for (const row of event ? rounds.add(event) : []) history.add(row)
  }
  return {
    block: (round: number, author: string, more: Proposal = {}) => add(proposed(round, { author, delay: 0, ...more })),
    timedOut: (round: number, author: string) => add(timeout(round, author)),
    finalize: (round: number, author: string, more: Proposal = {}) => add(finalized(round, { author, ...more })),
    read: () => history.read(),
  }
}

describe('from the stream alone', () => {
  test('own rounds of each epoch, with those that timed out', () => {
    const { block, timedOut, read } = stream()
    block(100, OTHER)
    block(101, OWN)
    timedOut(102, OTHER)
    timedOut(103, OWN)
    block(104, THIRD, { parent: 101 })
    block(105, OWN, { epoch: 8 })
    expect(read()).toEqual({
      epochs: [
        {
          epoch: 7n,
          fromAt: at(100),
          toAt: at(104),
          rounds: 5,
          led: 1,
          missed: 1,
          expected: 2,
          leaderUnknown: 0,
          schedule: 'unknown',
          unseen: 0,
          unseenOwn: null,
        },
        expect.objectContaining({ epoch: 8n, rounds: 1, led: 1, missed: 0, expected: 1 }),
      ],
      missed: [{ at: at(104), epoch: 7n, round: 103n, how: 'timeout', previousLeader: OTHER, othersMissed: 1 }],
      omitted: 0,
      covered: { fromAt: at(100), toAt: at(105) },
      gaps: [],
    })
  })

  test('a round without any line: the number of own rounds is unknown', () => {
    const { block, read } = stream()
    block(100, OTHER)
    block(101, OWN)
    block(103, OTHER, { parent: 101 })
    expect(read().epochs).toMatchObject([{ rounds: 4, led: 1, missed: 0, expected: null, leaderUnknown: 1 }])
    expect(read().missed).toEqual([])
  })

  test('rounds before the first block are not covered', () => {
    const { block, timedOut, read } = stream()
    timedOut(98, OWN)
    block(100, OTHER, { parent: 97 })
    expect(read().epochs).toMatchObject([{ rounds: 1, missed: 0, expected: 0, leaderUnknown: 0 }])
  })

  test('rounds that are not in the stream are a gap, and are not missed', () => {
    const { block, read } = stream()
    block(100, OTHER)
    block(150, OTHER)
    block(151, OWN)
    expect(read()).toMatchObject({
      epochs: [{ rounds: 3, led: 1, missed: 0, expected: 1, unseen: 49, unseenOwn: null }],
      gaps: [{ fromAt: at(100), toAt: at(150) }],
      covered: { fromAt: at(100), toAt: at(151) },
    })
  })

  test('an own block whose height was finalized with another block is missed', () => {
    const { block, finalize, read } = stream()
    block(100, OTHER)
    block(101, OWN, { seq: 101 })
    block(102, THIRD, { parent: 100, seq: 101 })
    finalize(102, THIRD, { parent: 100, seq: 101 })
    expect(read()).toMatchObject({
      epochs: [{ rounds: 3, led: 0, missed: 1, expected: 1 }],
      missed: [{ round: 101n, how: 'abandoned', previousLeader: OTHER, at: at(101) }],
    })
  })

  test('an own block that is finalized is led, also if its round timed out later', () => {
    const { block, timedOut, finalize, read } = stream()
    block(100, OTHER)
    block(101, OWN)
    timedOut(101, OWN)
    finalize(101, OWN)
    expect(read().epochs).toMatchObject([{ led: 1, missed: 0, expected: 1 }])
  })

  test('repeated lines count once', () => {
    const { block, timedOut, read } = stream()
    for (const _ of [1, 2]) {
      block(100, OTHER)
      block(101, OWN)
      timedOut(102, OWN)
      block(103, OTHER, { parent: 101 })
    }
    expect(read().epochs).toMatchObject([{ rounds: 4, led: 1, missed: 1, expected: 2 }])
  })

  test('without the own key, own rounds are unknown', () => {
    const { block, timedOut, read } = stream(null)
    block(100, OTHER)
    timedOut(101, OWN)
    block(102, OTHER, { parent: 100 })
    expect(read()).toMatchObject({ epochs: [{ rounds: 3, led: null, missed: null, expected: null }], missed: [] })
  })

  test('at most 1,000 missed rounds are kept, the newest', () => {
    const { block, timedOut, read } = stream()
    block(100, OTHER)
    for (let round = 101; round <= 1103; round += 1) timedOut(round, OWN)
    block(1104, OTHER, { parent: 100 })
    const { epochs, missed, omitted } = read()
    expect(epochs).toMatchObject([{ missed: 1003, expected: 1003 }])
    expect({ omitted, kept: missed.length, first: missed[0]?.round }).toEqual({ omitted: 3, kept: 1000, first: 104n })
  })
})

describe('with the leader schedule', () => {
  const SETS = [{ epoch: 7n, members: MEMBERS }]
  const leader = (round: number): string => leaders.leader(BigInt(round)) ?? ''
  /** The first own round after this one. */
  const ownAfter = (round: number): number => (leader(round + 1) === OWN ? round + 1 : ownAfter(round + 1))
  const ownIn = (from: number, to: number): number => {
    let count = 0
    for (let round = from; round <= to; round += 1) if (leader(round) === OWN) count += 1
    return count
  }

  test('a round without any line belongs to its leader once 200 blocks agreed', () => {
    const { block, read } = stream(OWN, SETS)
    const own = ownAfter(1000)
    const first = own - 198
    for (let round = first; round < own; round += 1) block(round, leader(round))
    block(own + 1, leader(own + 1), { parent: own - 1 })
    // 199 blocks.
    expect(read()).toMatchObject({
      epochs: [{ schedule: 'not proved', missed: 0, expected: null, leaderUnknown: 1 }],
      missed: [],
    })
    block(own + 2, leader(own + 2))
    expect(read()).toMatchObject({
      epochs: [{ schedule: 'proved', missed: 1, expected: ownIn(first, own + 2), leaderUnknown: 0 }],
      missed: [{ round: BigInt(own), how: 'skipped', at: at(own + 1), previousLeader: leader(own - 1) }],
    })
  })

  test('one block of another leader: the schedule is not used', () => {
    const { block, read } = stream(OWN, SETS)
    for (let round = 1; round <= 400; round += 1) block(round, leader(round))
    const wrong = leader(401) === OTHER ? THIRD : OTHER
    block(401, wrong)
    block(403, leader(403), { parent: 401 })
    expect(read()).toMatchObject({
      epochs: [{ schedule: 'not proved', expected: null, leaderUnknown: 1, unseenOwn: null }],
      missed: [],
    })
  })

  test('own rounds in a gap are counted, and not as missed', () => {
    const { block, read } = stream(OWN, SETS)
    for (let round = 1; round <= 300; round += 1) block(round, leader(round))
    block(400, leader(400))
    expect(read().epochs).toMatchObject([
      {
        schedule: 'proved',
        missed: 0,
        unseen: 99,
        unseenOwn: ownIn(301, 399),
        expected: ownIn(1, 300) + ownIn(400, 400),
      },
    ])
  })

  test('rounds between two epochs have no known leader', () => {
    const { block, read } = stream(OWN, [...SETS, { epoch: 8n, members: MEMBERS }])
    for (let round = 1; round <= 300; round += 1) block(round, leader(round))
    block(303, leader(303), { parent: 300, epoch: 8 })
    expect(read().epochs).toMatchObject([
      { epoch: 7n, expected: null, leaderUnknown: 2 },
      { epoch: 8n, expected: ownIn(303, 303), leaderUnknown: 0 },
    ])
  })
})
