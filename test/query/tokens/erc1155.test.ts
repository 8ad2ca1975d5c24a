import { expect, test } from 'vitest'
import {
  batch,
  type ListedResult,
  logOf,
  MOST,
  oddities,
  pageOf,
  person,
  placed,
  single,
  resultOf,
  TOPIC,
  type WireLog,
  word,
  ZERO,
} from './pages.ts'

const [ANN, BOB, OPERATOR] = [person(1), person(2), person(99)]

const resultOfLogs = (...logs: readonly WireLog[]): ListedResult =>
  resultOf({ standard: 'erc1155' }, pageOf(placed(logs)))

const holdingsOf = ({ rows }: ListedResult) => rows.map(({ id, address, balance }) => [id, address, balance])

/** A batch from the zero address to Ann with these offsets and words. */
const rawBatch = (...words: readonly (number | bigint)[]): WireLog =>
  logOf(TOPIC.batch, [OPERATOR, ZERO, ANN], words.map((one) => word(one)).join(''))

test('edge case 29: one id and amount in 64 bytes; more is counted, less is malformed', () => {
  const plain = single(ZERO, ANN, [MOST, 3])
  const result = resultOfLogs(plain)
  expect(holdingsOf(result)).toEqual([[MOST, ANN, 3n]])
  expect(result.stats.fastPages).toBe(1)
  const odd = resultOfLogs({ ...plain, data: `${plain.data}00` }, { ...plain, data: `${plain.data?.slice(0, -2)}` })
  expect(holdingsOf(odd)).toEqual([[MOST, ANN, 3n]])
  expect(oddities(odd)).toEqual({ oversizeData: 1, malformed: 1 })
})

test('edge case 30: a batch follows its offsets: amounts first, arrays shared, arrays overlapping', () => {
  const plain = resultOfLogs(
    batch(ZERO, ANN, [
      [5, 50],
      [6, 60],
    ]),
  )
  expect(holdingsOf(plain)).toEqual([
    [5n, ANN, 50n],
    [6n, ANN, 60n],
  ])
  expect(plain.stats.fastPages).toBe(1)
  // At byte 64 the amounts 50, 60, at 160 the ids 5, 6.
  expect(resultOfLogs(rawBatch(160, 64, 2, 50, 60, 2, 5, 6)).rows).toEqual(plain.rows)
  expect(holdingsOf(resultOfLogs(rawBatch(64, 64, 1, 7)))).toEqual([[7n, ANN, 7n]])
  // At byte 64 one id, 1; at 96, which is that id, one amount, 9.
  expect(holdingsOf(resultOfLogs(rawBatch(64, 96, 1, 1, 9)))).toEqual([[1n, ANN, 9n]])
})

test('edge case 31: more ids than amounts, or fewer: all of the log is rejected', () => {
  const result = resultOfLogs(rawBatch(64, 160, 2, 5, 6, 1, 50), rawBatch(64, 128, 1, 5, 2, 50, 60))
  expect(result.rows).toEqual([])
  expect(oddities(result)).toEqual({ malformed: 2 })
})

test.each([
  ['an offset at the end of the data', [128, 64, 1, 5]],
  ['an offset far beyond it', [2n ** 255n, 64, 1, 5]],
  ['a length beyond the data', [64, 64, 2, 5]],
  ['a length beyond all memory', [64, 64, 2n ** 255n, 5]],
  ['no room for the second offset', [64]],
] as const)('edge case 32: %s is rejected, and nothing allocated', (_title, words) => {
  const result = resultOfLogs(rawBatch(...words))
  expect(result.rows).toEqual([])
  expect(oddities(result)).toEqual({ malformed: 1 })
})

test('edge case 33: an empty batch has no effect; a duplicate id is applied twice', () => {
  const result = resultOfLogs(
    batch(ZERO, ANN, []),
    batch(ZERO, BOB, [
      [5, 1],
      [5, 2],
    ]),
  )
  expect(holdingsOf(result)).toEqual([[5n, BOB, 3n]])
  expect(oddities(result)).toEqual({})
  expect(result.stats).toMatchObject({ applied: 2, fastPages: 1 })
})

test('edge case 33: an empty batch with dirty addresses is counted, too', () => {
  const empty = batch(`0x${'f'.repeat(64)}`, ANN, [])
  expect(oddities(resultOfLogs(single(ZERO, ANN, [1, 9]), empty))).toEqual({ dirtyTopic: 1 })
})

test('edge case 34: self transfers, mints, burns and partial histories are like ERC-20, for each id', () => {
  const logs = [
    single(ZERO, ANN, [1, 9]),
    single(ANN, ANN, [1, 4]),
    single(ANN, ZERO, [1, 2]),
    single(ANN, BOB, [2, 3]),
  ]
  const expected = [
    [1n, ANN, 7n],
    [2n, BOB, 3n],
    [2n, ANN, -3n],
  ]
  const whole = resultOfLogs(...logs)
  expect(holdingsOf(whole)).toEqual(expected)
  expect(whole).toMatchObject({ partial: false, nonConserving: true, supply: null })
  const part = resultOf({ standard: 'erc1155', fullHistory: false }, pageOf(placed(logs)))
  expect(holdingsOf(part)).toEqual(expected)
  expect(part).toMatchObject({ partial: true, nonConserving: false })
})

test('edge case 35: with fewer than four topics it is malformed', () => {
  const result = resultOfLogs(
    logOf(TOPIC.single, [OPERATOR, ZERO], word(1) + word(2)),
    logOf(TOPIC.batch, [], ''),
    logOf(TOPIC.single, [], word(OPERATOR) + word(ZERO) + word(ANN) + word(1) + word(2)),
  )
  expect(result.rows).toEqual([])
  expect(oddities(result)).toEqual({ malformed: 3 })
})

test('edge case 15: a balance of an id below 0 at the end of a block is marked, also if it is not at the end', () => {
  const result = resultOf(
    { standard: 'erc1155' },
    pageOf([
      ...placed([single(ZERO, ANN, [6, 640])], 9),
      ...placed(
        [
          batch(ANN, BOB, [
            [6, 1],
            [5, 640],
          ]),
        ],
        10,
      ),
      ...placed([single(ZERO, ANN, [5, 700])], 11),
    ]),
  )
  expect(holdingsOf(result)).toEqual([
    [5n, BOB, 640n],
    [5n, ANN, 60n],
    [6n, ANN, 639n],
    [6n, BOB, 1n],
  ])
  expect(result.nonConserving).toBe(true)
  expect(result.outOfRange).toEqual({ block: 10, address: ANN, id: 5n, balance: -640n })
  const within = resultOfLogs(single(ANN, BOB, [5, 640]), single(ZERO, ANN, [5, 640]))
  expect(within).toMatchObject({ nonConserving: false, outOfRange: null })
})
