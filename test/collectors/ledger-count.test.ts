import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLedgerCount } from '../../src/collectors/ledger/count.ts'
import { createOwnKey } from '../../src/collectors/shared/own-key.ts'
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
  readonly blockAt?: number
  readonly writtenAt?: number
  readonly transactions?: number
}

const EXTRA = { timestamp: null, level: 'INFO', authorAddress: null } as const

const proposed = ({
  round,
  parent,
  seq,
  author,
  blockAt,
  writtenAt,
  transactions,
}: Shape): LedgerEvent => ({
  ...EXTRA,
  event: 'proposed',
  round: BigInt(round),
  parentRound: parent === null ? null : BigInt(parent ?? round - 1),
  epoch: 1n,
  seqNum: BigInt(seq),
  author: author ?? OTHER,
  blockAt: blockAt ?? T0,
  writtenAt: writtenAt ?? T0 + 50,
  transactions: BigInt(transactions ?? 0),
})
const finalized = (shape: Shape): LedgerEvent => {
  const { round, parentRound, epoch, seqNum, author, blockAt, writtenAt } = {
    ...proposed(shape),
    parentRound: null,
    epoch: 1n,
    seqNum: BigInt(shape.seq),
    blockAt: shape.blockAt ?? T0,
  }
  return {
    ...EXTRA,
    event: 'finalized',
    round,
    parentRound,
    epoch,
    seqNum,
    author,
    blockAt,
    writtenAt,
  }
}
const timeout = (round: number, author = OTHER): LedgerEvent => ({
  ...EXTRA,
  event: 'timeout',
  round: BigInt(round),
  author,
  writtenAt: T0,
})

const count = (ownKey: string | null = OWN) => {
  const record = recording()
  const ledger = createLedgerCount(record.recorder, createOwnKey(ownKey))
  ledger.begin()
  const hear = (...events: readonly LedgerEvent[]): void => {
    for (const event of events) ledger.add({ event, isOld: false, process: '1' })
  }
  return { ...record, ledger, hear }
}

const BLOCKS = 'chain_ledger_blocks_total'

describe('counting', () => {
  test('own is a part of network', () => {
    const { hear, total } = count()
    hear(
      proposed({ round: 1, seq: 1, author: OWN }),
      proposed({ round: 2, seq: 2 }),
      finalized({ round: 1, seq: 1, author: OWN }),
    )
    expect(total(`${BLOCKS}{event=proposed,scope=own}`)).toBe(1)
    expect(total(`${BLOCKS}{event=proposed,scope=network}`)).toBe(2)
    expect(total(`${BLOCKS}{event=finalized,scope=own}`)).toBe(1)
    expect(total(`${BLOCKS}{event=finalized,scope=network}`)).toBe(1)
  })

  test('without a key there is no own, not even 0', () => {
    const { hear, totals } = count(null)
    hear(proposed({ round: 1, seq: 1, author: OWN }), timeout(2, OWN))
    expect(Object.keys(totals()).filter((key) => key.includes('own'))).toEqual([])
    expect(totals()[`${BLOCKS}{event=proposed,scope=network}`]).toBe(1)
  })

  test('what is shown again is not counted again; the same height in another round is another block', () => {
    const { hear, total } = count()
    const first = proposed({ round: 5, seq: 9, transactions: 3 })
    const again = proposed({ round: 6, parent: 4, seq: 9, transactions: 4 })
    hear(first, again, first, again, timeout(7), timeout(7))
    expect(total(`${BLOCKS}{event=proposed,scope=network}`)).toBe(2)
    expect(total('chain_ledger_transactions_total')).toBe(7)
    expect(total('chain_ledger_timeouts_total{scope=network}')).toBe(1)
  })

  test('what is from before the agent explains the present and is not counted', () => {
    const { ledger, total } = count()
    const old = proposed({ round: 5, seq: 9, transactions: 3 })
    ledger.add({ event: old, isOld: true, process: '1' })
    ledger.add({ event: old, isOld: false, process: '1' })
    expect(total(`${BLOCKS}{event=proposed,scope=network}`)).toBe(0)
    expect(total('chain_ledger_transactions_total')).toBe(0)
    expect(ledger.reading().proposed).toMatchObject({ round: 5n, seqNum: 9n })
  })
})

test('the key may come later, from the status report; then own begins with 0', () => {
  const record = recording()
  const key = createOwnKey(null)
  const ledger = createLedgerCount(record.recorder, key)
  ledger.begin()
  const add = (event: LedgerEvent): boolean => ledger.add({ event, isOld: false, process: '1' })
  add(proposed({ round: 1, seq: 1, author: OWN }))
  key.learn(`0x${OWN.toUpperCase()}`)
  add(proposed({ round: 2, seq: 2, author: OTHER }))
  expect(record.total(`${BLOCKS}{event=proposed,scope=own}`)).toBe(0)
  add(proposed({ round: 3, seq: 3, author: OWN }))
  expect(record.total(`${BLOCKS}{event=proposed,scope=own}`)).toBe(1)
})

describe('skipped rounds', () => {
  const skipped = (...blocks: readonly Shape[]): number | undefined => {
    const { hear, total } = count()
    hear(...blocks.map(proposed))
    return total('chain_ledger_skipped_rounds_total')
  }
  test('none in a row', () => {
    expect(skipped({ round: 10, seq: 1 }, { round: 11, seq: 2 })).toBe(0)
  })
  test('round − parent − 1', () => {
    // 11, 12 and 13 gave no block.
    expect(skipped({ round: 10, seq: 1 }, { round: 14, parent: 10, seq: 2 })).toBe(3)
  })
  test('each once, when a height is proposed again over the same parent', () => {
    // 10 is the parent of both; 11 and 12 were skipped, then 13 too: its block was given up.
    expect(
      skipped(
        { round: 10, seq: 1 },
        { round: 13, parent: 10, seq: 2 },
        { round: 14, parent: 10, seq: 2 },
      ),
    ).toBe(3)
  })
  test('a hole in what we heard is no skipped round', () => {
    expect(skipped({ round: 10, seq: 1 }, { round: 50, parent: 49, seq: 38 })).toBe(0)
  })
  test('absent where the version does not tell the parent', () => {
    expect(
      skipped({ round: 10, parent: null, seq: 1 }, { round: 14, parent: null, seq: 2 }),
    ).toBeUndefined()
  })
})

describe('own timeouts in a row', () => {
  test('unknown until we were leader once, ended by a block of our own', () => {
    const { ledger, hear } = count()
    const inARow = (): number | null => ledger.reading().ownConsecutiveTimeouts
    hear(timeout(1), proposed({ round: 2, seq: 1 }))
    expect(inARow()).toBeNull()
    hear(timeout(3, OWN))
    hear(proposed({ round: 4, parent: 2, seq: 2 }))
    hear(timeout(5, OWN))
    expect(inARow()).toBe(2)
    hear(proposed({ round: 6, parent: 4, seq: 3, author: OWN }))
    expect(inARow()).toBe(0)
  })
})

describe('times', () => {
  test('propagation, interval and finality by the times in the lines', () => {
    const { hear, observed } = count()
    hear(
      proposed({ round: 1, seq: 1, blockAt: T0, writtenAt: T0 + 1000 }), // the process shows itself
      proposed({ round: 2, seq: 2, blockAt: T0 + 1300, writtenAt: T0 + 1360 }),
      proposed({ round: 3, seq: 3, blockAt: T0 + 1700, writtenAt: T0 + 1780 }),
      finalized({ round: 2, seq: 2, blockAt: T0 + 1300, writtenAt: T0 + 2100 }),
    )
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.06, 0.08])
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([1.3, 0.4])
    expect(observed('chain_ledger_finality_seconds')).toEqual([0.8])
  })

  test('what a new process shows in its first moment is old', () => {
    const { ledger, observed } = count()
    const replay = Array.from({ length: 100 }, (_, at) =>
      proposed({ round: at + 1, seq: at + 1, blockAt: T0 + at * 350, writtenAt: T0 + 40_000 + at }),
    )
    for (const event of replay) ledger.add({ event, isOld: false, process: '77' })
    const live = proposed({ round: 101, seq: 101, blockAt: T0 + 40_300, writtenAt: T0 + 40_350 })
    ledger.add({ event: live, isOld: false, process: '77' })
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.05])
  })

  test('a leader whose clock is ahead makes no histogram fall, and is counted', () => {
    const { hear, observed, total } = count()
    hear(
      proposed({ round: 1, seq: 1, blockAt: T0, writtenAt: T0 + 1000 }),
      proposed({ round: 2, seq: 2, blockAt: T0 + 2900, writtenAt: T0 + 2000 }),
      proposed({ round: 3, seq: 3, blockAt: T0 + 2300, writtenAt: T0 + 2400 }),
    )
    expect(observed('chain_ledger_propagation_seconds')).toEqual([0.1])
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([2.9])
    expect(total('chain_ledger_future_blocks_total')).toBe(1)
  })

  test('no interval over a height that we did not hear of', () => {
    const { hear, observed } = count()
    hear(
      proposed({ round: 1, seq: 1, writtenAt: T0 }),
      proposed({ round: 9, seq: 9, writtenAt: T0 + 3000 }),
    )
    expect(observed('chain_ledger_block_interval_seconds')).toEqual([])
  })
})

test('what was remembered goes on: nothing twice, gauges at once', () => {
  const before = count()
  before.hear(proposed({ round: 7, seq: 3 }), timeout(8, OWN), finalized({ round: 6, seq: 2 }))
  const after = count()
  const kept: unknown = JSON.parse(JSON.stringify(toJson(before.ledger.memory())))
  after.ledger.restore(kept)
  expect(after.ledger.reading()).toEqual(before.ledger.reading())
  after.hear(proposed({ round: 7, seq: 3 }), proposed({ round: 10, parent: 7, seq: 4 }))
  expect(after.total(`${BLOCKS}{event=proposed,scope=network}`)).toBe(1)
  expect(after.total('chain_ledger_skipped_rounds_total')).toBe(2)
  after.ledger.restore({ nonsense: true }) // a memory that is not one changes nothing
  expect(after.ledger.reading().proposed?.round).toBe(10n)
})

test('against a brute-force count over any order of any lines', () => {
  const event = fc.tuple(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 0, max: 4 }),
    fc.constantFrom(OWN, OTHER),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), (shapes) => {
      const { hear, total } = count()
      const events = shapes.map(([round, back, author]) =>
        back === 0
          ? timeout(round, author)
          : proposed({
              round,
              parent: Math.max(0, round - back),
              seq: round,
              author,
              transactions: back,
            }),
      )
      hear(...events)
      const rounds = (kind: string, author?: string): number =>
        new Set(
          events
            .filter(
              (one, at) =>
                one.event === kind &&
                events.findIndex((other) => other.event === kind && other.round === one.round) ===
                  at,
            )
            .filter((one) => author === undefined || one.author === author)
            .map((one) => one.round),
        ).size
      expect(total(`${BLOCKS}{event=proposed,scope=network}`)).toBe(rounds('proposed'))
      expect(total(`${BLOCKS}{event=proposed,scope=own}`)).toBe(rounds('proposed', OWN))
      expect(total('chain_ledger_timeouts_total{scope=network}')).toBe(rounds('timeout'))
      expect(total('chain_ledger_timeouts_total{scope=own}')).toBe(rounds('timeout', OWN))
    }),
    { numRuns: 200, seed: 2 },
  )
})
