import { expect, test } from 'vitest'
import { createRecentRounds, KEPT_ROUNDS } from '../../src/collectors/ledger/recent-rounds.ts'
import type { LedgerEvent } from '../../src/parsers/ledger-tail.ts'

const line = (event: LedgerEvent['event'], round: number, parent: number | null = round - 1): LedgerEvent => {
  const common = { timestamp: null, level: 'INFO', round: BigInt(round), author: `0${round}`, authorAddress: null }
  const written = { ...common, writtenAt: round * 1000 }
  if (event === 'timeout') return { ...written, event }
  const block = { ...written, parentRound: parent === null ? null : BigInt(parent), epoch: 1n, seqNum: 1n, blockAt: 0 }
  return event === 'finalized' ? { ...block, event } : { ...block, event, transactions: 1n }
}
const shown = (events: readonly LedgerEvent[]) => {
  const rounds = createRecentRounds()
  for (const event of events) rounds.add(event, event.round === 7n)
  return rounds.all().map(({ round, state, leader, at, isOwn }) => [Number(round), state, leader, at, isOwn])
}

test('each round has the last state that the stream reports of it', () => {
  expect(
    shown([
      line('proposed', 5),
      line('proposed', 6),
      line('finalized', 5),
      line('timeout', 7),
      line('proposed', 10, 6),
    ]),
  ).toEqual([
    [5, 'finalized', '05', 5000, false],
    [6, 'proposed', '06', 6000, false],
    [7, 'timed out', '07', 7000, true],
    [8, 'skipped', null, 10_000, null],
    [9, 'skipped', null, 10_000, null],
    [10, 'proposed', '010', 10_000, false],
  ])
})

test('lines that are repeated, late or of a round whose block was taken change nothing', () => {
  const lines = [
    line('proposed', 5),
    line('proposed', 8, 5),
    line('timeout', 6),
    line('finalized', 5),
    line('timeout', 5),
  ]
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
