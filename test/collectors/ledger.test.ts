import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLedgerCounters } from '../../src/collectors/ledger/collector.ts'
import { createRecentRounds, KEPT_ROUNDS } from '../../src/collectors/ledger/recent-rounds.ts'
import { createOwnBlock, createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { toJson } from '../../src/core/json.ts'
import type { LedgerEvent } from '../../src/parsers/ledger-tail.ts'
import { recording } from './recording.ts'

const OWN = `02${'aa'.repeat(32)}`
const OTHER = `03${'bb'.repeat(32)}`
const T0 = 1_772_359_200_000

interface Shape {
  readonly round: number
  readonly parent?: number | null
  readonly seq: number
  readonly author?: string
  readonly blockAt?: number | null
  readonly writtenAt?: number
  readonly transactions?: number
}

const EXTRA = { timestamp: null, level: 'INFO', authorAddress: null } as const

const blockOf = ({ round, parent, seq, author, blockAt, writtenAt }: Shape) => ({
  ...EXTRA,
  round: BigInt(round),
  parentRound: parent === null ? null : BigInt(parent ?? round - 1),
  epoch: 1n,
  seqNum: BigInt(seq),
  author: author ?? OTHER,
  blockAt: blockAt === undefined ? T0 : blockAt,
  writtenAt: writtenAt ?? T0 + 50,
})
const proposed = (shape: Shape): LedgerEvent => ({
  ...blockOf(shape),
  event: 'proposed',
  transactions: BigInt(shape.transactions ?? 0),
})
const finalized = (shape: Shape): LedgerEvent => ({ ...blockOf({ ...shape, parent: null }), event: 'finalized' })
const timeout = (round: number, author = OTHER): LedgerEvent => ({
  ...EXTRA,
  event: 'timeout',
  round: BigInt(round),
  author,
  writtenAt: T0,
})

const start = (ownKey: string | null = OWN) => {
  const record = recording()
  const ownBlock = createOwnBlock()
  const key = createOwnKey(ownKey)
  const ledger = createLedgerCounters(record.recorder, key, ownBlock)
  ledger.initialize()
  const read = (...events: readonly LedgerEvent[]): void => {
    for (const event of events) ledger.add({ event, isOld: false, process: '1' })
  }
  return { ...record, key, ledger, ownBlock, read }
}

const BLOCKS = 'chain_ledger_blocks_total'
const OWN_BLOCKS = 'chain_ledger_own_blocks_total'

describe('counting', () => {
  test('a block is empty with the transaction of the reward alone, and without any', () => {
    const { read, total } = start()
    read(
      proposed({ round: 1, seq: 1, author: OWN, transactions: 0 }),
      proposed({ round: 2, seq: 2, author: OWN, transactions: 1 }),
      proposed({ round: 3, seq: 3, author: OWN, transactions: 2 }),
      proposed({ round: 4, seq: 4, transactions: 1 }),
      proposed({ round: 4, seq: 4, transactions: 1 }),
      finalized({ round: 1, seq: 1, author: OWN }),
    )
    expect(total(`${OWN_BLOCKS}{event=finalized}`)).toBe(1)
    expect(total('chain_ledger_own_empty_blocks_total')).toBe(2)
    expect(total('chain_ledger_empty_blocks_total')).toBe(3)
  })

  test('the newest own block is the last one that this node led and that is finalized', () => {
    const { ownBlock, read } = start()
    read(proposed({ round: 1, seq: 1, author: OWN }), finalized({ round: 2, seq: 2 }))
    expect(ownBlock.height).toBeNull()
    read(finalized({ round: 3, seq: 3, author: OWN }), proposed({ round: 5, seq: 5, author: OWN }))
    expect(ownBlock.height).toBe(3n)
    read(finalized({ round: 5, seq: 5, author: OWN }), finalized({ round: 6, seq: 6 }), timeout(7, OWN))
    expect(ownBlock.height).toBe(5n)
  })

  test('without a key the series of own are absent', () => {
    const { read, totals } = start(null)
    read(proposed({ round: 1, seq: 1, author: OWN }), timeout(2, OWN))
    expect(Object.keys(totals()).filter((key) => key.includes('own'))).toEqual([])
    expect(totals()[`${BLOCKS}{event=proposed}`]).toBe(1)
  })

  test('a repeated line is not counted again; the same height in another round is another block', () => {
    const { read, total } = start()
    const first = proposed({ round: 5, seq: 9, transactions: 3 })
    const again = proposed({ round: 6, parent: 4, seq: 9, transactions: 4 })
    read(first, again, first, again, timeout(7), timeout(7))
    expect(total(`${BLOCKS}{event=proposed}`)).toBe(2)
    expect(total('chain_ledger_transactions_total')).toBe(7)
    expect(total('chain_ledger_timeouts_total')).toBe(1)
  })

  test('entries from before the agent update the gauges and are not counted', () => {
    const { ledger, totals } = start()
    const old = proposed({ round: 5, seq: 9, transactions: 1 })
    ledger.add({ event: old, isOld: true, process: '1' })
    ledger.add({ event: old, isOld: false, process: '1' })
    expect(Object.values(totals()).filter((count) => count > 0)).toEqual([])
    expect(ledger.reading().proposed).toMatchObject({ round: 5n, seqNum: 9n })
  })
})

test('if the key becomes known later, own starts with 0', () => {
  const { key, read, total } = start(null)
  read(proposed({ round: 1, seq: 1, author: OWN }))
  key.set(`0x${OWN.toUpperCase()}`)
  read(proposed({ round: 2, seq: 2, author: OTHER }))
  expect(total(`${OWN_BLOCKS}{event=proposed}`)).toBe(0)
  read(proposed({ round: 3, seq: 3, author: OWN }))
  expect(total(`${OWN_BLOCKS}{event=proposed}`)).toBe(1)
})

const AT_10 = { round: 10, seq: 1 }
test.each([
  ['none between consecutive rounds', [AT_10, { round: 11, seq: 2 }], 0],
  ['11, 12 and 13 without a block', [AT_10, { round: 14, parent: 10, seq: 2 }], 3],
  // 11 and 12 were skipped, then 13, too: its block was abandoned.
  ['each once', [AT_10, { round: 13, parent: 10, seq: 2 }, { round: 14, parent: 10, seq: 2 }], 3],
  ['none in a gap of the stream', [AT_10, { round: 50, parent: 49, seq: 38 }], 0],
  ['unknown without a parent', [AT_10, { round: 14, seq: 2 }].map((block) => ({ ...block, parent: null })), undefined],
])('skipped rounds: %s', (...[, blocks, expected]) => {
  const { read, total } = start()
  read(...blocks.map(proposed))
  expect(total('chain_ledger_skipped_rounds_total')).toBe(expected)
})

test('consecutive own timeouts are unknown until the node was leader once, and reset by an own block', () => {
  const { ledger, read } = start()
  const consecutive = (): number | null => ledger.reading().ownConsecutiveTimeouts
  read(timeout(1), proposed({ round: 2, seq: 1 }))
  expect(consecutive()).toBeNull()
  read(timeout(3, OWN), proposed({ round: 4, parent: 2, seq: 2 }), timeout(5, OWN))
  expect(consecutive()).toBe(2)
  read(proposed({ round: 6, parent: 4, seq: 3, author: OWN }))
  expect(consecutive()).toBe(0)
})

describe('durations', () => {
  test('propagation, interval and finality, from the times in the lines', () => {
    const { read, observed } = start()
    read(
      proposed({ round: 1, seq: 1, blockAt: T0, writtenAt: T0 + 1000 }), // the first line of the process
      proposed({ round: 2, seq: 2, blockAt: T0 + 1300, writtenAt: T0 + 1360 }),
      proposed({ round: 3, seq: 3, blockAt: T0 + 1700, writtenAt: T0 + 1780 }),
      finalized({ round: 2, seq: 2, blockAt: T0 + 1300, writtenAt: T0 + 2100 }),
    )
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.06, 0.08])
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([1.3, 0.4])
    expect(observed('chain_ledger_finality_seconds')).toEqual([0.8])
  })

  test('own blocks: from the block before, and without a way over the network', () => {
    const { read, observed } = start()
    read(
      proposed({ round: 1, seq: 1, author: OWN, blockAt: T0, writtenAt: T0 + 1000 }), // the first line of the process
      proposed({ round: 2, seq: 2, blockAt: T0 + 1300, writtenAt: T0 + 1360 }),
      proposed({ round: 3, seq: 3, author: OWN, blockAt: T0 + 1750, writtenAt: T0 + 1762 }),
      proposed({ round: 9, seq: 9, author: OWN, blockAt: T0 + 4000, writtenAt: T0 + 4015 }),
      finalized({ round: 3, seq: 3, author: OWN, blockAt: T0 + 1750, writtenAt: T0 + 4100 }),
    )
    expect(observed('chain_ledger_own_block_interval_seconds')).toEqual([0.45])
    expect(observed('chain_ledger_own_delay_seconds')).toEqual([0.012, 0.015])
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.06, 0.012, 0.015])
  })

  test('the first lines of a new process are repeated ones', () => {
    const { ledger, observed } = start()
    const replay = Array.from({ length: 100 }, (_, at) =>
      proposed({ round: at + 1, seq: at + 1, blockAt: T0 + at * 350, writtenAt: T0 + 40_000 + at }),
    )
    for (const event of replay) ledger.add({ event, isOld: false, process: '77' })
    const live = proposed({ round: 101, seq: 101, blockAt: T0 + 40_300, writtenAt: T0 + 40_350 })
    ledger.add({ event: live, isOld: false, process: '77' })
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.05])
  })

  test('a block from the future is counted, and not observed', () => {
    const { read, observed, total } = start()
    read(
      proposed({ round: 1, seq: 1, blockAt: T0, writtenAt: T0 + 1000 }),
      proposed({ round: 2, seq: 2, blockAt: T0 + 2900, writtenAt: T0 + 2000 }),
      proposed({ round: 3, seq: 3, blockAt: T0 + 2300, writtenAt: T0 + 2400 }),
    )
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.1])
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([2.9])
    expect(total('chain_ledger_future_blocks_total')).toBe(1)
  })

  test('a block of an unknown time is counted, and neither its delay nor its interval is known', () => {
    const { read, ledger, observed, total } = start()
    read(
      proposed({ round: 1, seq: 1, blockAt: T0, writtenAt: T0 + 1000 }),
      proposed({ round: 2, seq: 2, blockAt: null, writtenAt: T0 + 2000, transactions: 3 }),
    )
    expect(total(`${BLOCKS}{event=proposed}`)).toBe(2)
    expect(total('chain_ledger_transactions_total')).toBe(3)
    expect(ledger.reading().proposed).toMatchObject({ round: 2n, seqNum: 2n, blockAt: null })
    read(proposed({ round: 3, seq: 3, blockAt: T0 + 2300, writtenAt: T0 + 2400 }))
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.1])
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([])
    expect(total('chain_ledger_future_blocks_total')).toBe(0)
  })

  test('no interval across a missing height', () => {
    const { read, observed } = start()
    read(proposed({ round: 1, seq: 1, writtenAt: T0 }), proposed({ round: 9, seq: 9, writtenAt: T0 + 3000 }))
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([])
  })
})

test('after a restore nothing is counted again, and the gauges are known at once', () => {
  const before = start()
  before.read(proposed({ round: 7, seq: 3 }), timeout(8, OWN), finalized({ round: 6, seq: 2 }))
  const after = start()
  const saved: unknown = JSON.parse(JSON.stringify(toJson(before.ledger.snapshot())))
  after.ledger.restore(saved)
  expect(after.ledger.reading()).toEqual(before.ledger.reading())
  after.read(proposed({ round: 7, seq: 3 }), proposed({ round: 10, parent: 7, seq: 4 }))
  expect(after.total(`${BLOCKS}{event=proposed}`)).toBe(1)
  expect(after.total('chain_ledger_skipped_rounds_total')).toBe(2)
  // Rounds 8 and 9 were counted; the block of round 10 is proposed again in round 11.
  const last = start()
  last.ledger.restore(JSON.parse(JSON.stringify(toJson(after.ledger.snapshot()))))
  last.read(proposed({ round: 11, parent: 7, seq: 4 }))
  expect(last.total('chain_ledger_skipped_rounds_total')).toBe(1)
  after.ledger.restore({ invalid: true }) // an invalid snapshot changes nothing
  expect(after.ledger.reading().proposed?.round).toBe(10n)
})

test('matches a count by brute force for any lines in any order', () => {
  const event = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 4 }), fc.constantFrom(OWN, OTHER))
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), (shapes) => {
      const { read, total } = start()
      const events = shapes.map(([round, back, author]) =>
        back === 0
          ? timeout(round, author)
          : proposed({ round, parent: Math.max(0, round - back), seq: round, author, transactions: back }),
      )
      read(...events)
      const rounds = (kind: string, author?: string): number => {
        const firsts = new Map<bigint, string>()
        for (const one of events) if (one.event === kind && !firsts.has(one.round)) firsts.set(one.round, one.author)
        return [...firsts.values()].filter((one) => author === undefined || one === author).length
      }
      expect(total(`${BLOCKS}{event=proposed}`)).toBe(rounds('proposed'))
      expect(total(`${OWN_BLOCKS}{event=proposed}`)).toBe(rounds('proposed', OWN))
      expect(total('chain_ledger_timeouts_total')).toBe(rounds('timeout'))
      expect(total('chain_ledger_own_timeouts_total')).toBe(rounds('timeout', OWN))
    }),
    { numRuns: 200, seed: 2 },
  )
})

const line = (event: LedgerEvent['event'], round: number, parent = round - 1): LedgerEvent => {
  const shape = { round, parent, seq: 1, author: `0${round}`, writtenAt: round * 1000 }
  if (event === 'timeout') return { ...timeout(round, shape.author), writtenAt: shape.writtenAt }
  return event === 'finalized' ? finalized(shape) : proposed(shape)
}
const shown = (events: readonly LedgerEvent[]) => {
  const rounds = createRecentRounds()
  for (const event of events) rounds.add(event, event.round === 7n)
  return rounds.all().map(({ round, state, leader, at, isOwn }) => [Number(round), state, leader, at, isOwn])
}

test('each round has the last state that the stream reports of it', () => {
  const both = [line('proposed', 5), line('proposed', 6)]
  expect(shown([...both, line('finalized', 5), line('timeout', 7), line('proposed', 10, 6)])).toEqual([
    [5, 'finalized', '05', 5000, false],
    [6, 'proposed', '06', 6000, false],
    [7, 'timed out', '07', 7000, true],
    [8, 'skipped', null, 10_000, null],
    [9, 'skipped', null, 10_000, null],
    [10, 'proposed', '010', 10_000, false],
  ])
})

test('lines that are repeated, late or of a round whose block was taken change nothing', () => {
  const both = [line('proposed', 5), line('proposed', 8, 5)]
  const lines = [...both, line('timeout', 6), line('finalized', 5), line('timeout', 5)]
  const once = shown(lines)
  expect(once).toEqual([
    [5, 'finalized', '05', 5000, false],
    [6, 'timed out', '06', 6000, false],
    [7, 'skipped', null, 8000, null],
    [8, 'proposed', '08', 8000, false],
  ])
  expect(shown([...lines, ...lines])).toEqual(once)
})

test('no more rounds are kept than are shown, however large a gap is', () => {
  const rounds = shown([line('proposed', 1), line('proposed', 9_000_000, 1), line('proposed', 3)])
  expect(rounds.length).toBe(KEPT_ROUNDS)
  expect(rounds[0]).toEqual([9_000_000 - KEPT_ROUNDS + 1, 'skipped', null, 9_000_000_000, null])
})

test('a chain that begins again replaces the rounds; old lines that are repeated do not', () => {
  const begins = (lines: number) => [
    line('proposed', 1_000_000),
    ...Array.from({ length: lines }, (_, index) => line('proposed', index + 1)),
  ]
  expect(shown(begins(KEPT_ROUNDS)).map(([round]) => round)).toEqual([1_000_000])
  expect(shown(begins(KEPT_ROUNDS + 2)).map(([round]) => round)).toEqual([KEPT_ROUNDS + 1, KEPT_ROUNDS + 2])
})
