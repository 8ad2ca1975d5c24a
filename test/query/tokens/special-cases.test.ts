import { expect, test } from 'vitest'
import { createLedger } from '../../../query/tokens/ledger.ts'
import type { LedgerOptions } from '../../../query/tokens/types.ts'
import {
  balancesOf,
  batch,
  consecutive,
  CONTRACT,
  handover,
  type ListedResult,
  logOf,
  MOST,
  oddities,
  pageOf,
  person,
  placed,
  resultOf,
  TOPIC,
  transfer,
  type WireLog,
  word,
  ZERO,
} from './pages.ts'

// What the random histories of agreement.test.ts do not have, or too seldom.

const [ANN, BOB, EVE] = [person(1), person(2), person(3)]

type Options = Omit<LedgerOptions, 'contract' | 'fullHistory'>

const resultOfLogs = (options: Options, ...logs: readonly WireLog[]): ListedResult =>
  resultOf(options, pageOf(placed(logs)))

const erc20 = (...logs: readonly WireLog[]) => resultOfLogs({ standard: 'erc20' }, ...logs)
const erc721 = (...logs: readonly WireLog[]) => resultOfLogs({ standard: 'erc721' }, ...logs)
const erc1155 = (...logs: readonly WireLog[]) => resultOfLogs({ standard: 'erc1155' }, ...logs)
const ownersOf = ({ rows }: ListedResult) => rows.map(({ id, address }) => [id, address])
const holdingsOf = ({ rows }: ListedResult) => rows.map(({ id, address, balance }) => [id, address, balance])

test('the greatest amount, and sums beyond 256 bits, are exact', () => {
  const result = erc20(
    ...[ANN, ANN, BOB].map((to) => transfer(ZERO, to, MOST)),
    ...[ZERO, ZERO].map((to) => transfer(EVE, to, MOST)),
    transfer(EVE, ANN, 1),
  )
  expect(balancesOf(result)).toEqual({ [ANN]: 2n * MOST + 1n, [BOB]: MOST, [EVE]: -2n * MOST - 1n })
  expect(oddities(result)).toEqual({ overflow: 2 })
  expect(result.stats.fastPages).toBe(1)
})

test('a supply of more than 256 bits is marked, also if each balance is less', () => {
  const result = erc20(transfer(ZERO, ANN, MOST), transfer(ZERO, BOB, 1))
  expect(result).toMatchObject({ nonConserving: true, outOfRange: null, supply: null })
  expect(oddities(result)).toEqual({ overflow: 1 })
  const most = erc20(transfer(ZERO, ANN, MOST - 1n), transfer(ZERO, BOB, 1))
  expect(most).toMatchObject({ nonConserving: false, supply: MOST })
  expect(oddities(most)).toEqual({})
})

test('balances that do not add up to the supply are an error', () => {
  const options = { standard: 'erc20', contract: CONTRACT, fullHistory: true } as const
  const ledger = createLedger(options)
  ledger.applyPage(pageOf(placed([transfer(ZERO, ANN, 0x1234_5678)])))
  const saved = ledger.snapshot()
  const words = new Int32Array(saved.slice().buffer)
  // The supply is written before the balances.
  words[words.indexOf(0x1234_5678)] = 0x1234_5679
  const other = createLedger(options)
  other.restore(new Uint8Array(words.buffer))
  expect(() => other.result()).toThrow(/add up to 305419896, but 305419897 were minted/)
})

test('upper and lower case are the same address', () => {
  const mint = transfer(ZERO, `0x${'AB'.repeat(20)}`, 5)
  const result = erc20({ ...mint, address: CONTRACT.toUpperCase().replace('X', 'x') })
  expect(balancesOf(result)).toEqual({ [`0x${'ab'.repeat(20)}`]: 5n })
})

test('a Transfer of 0, which anyone can log, is no sign that a wrapped token logs a Transfer for each deposit', () => {
  const logs = [
    logOf(TOPIC.deposit, [ANN], word(10)),
    transfer(ZERO, EVE, 0),
    logOf(TOPIC.deposit, [EVE], word(0)),
    transfer(ANN, ZERO, 3),
    logOf(TOPIC.withdrawal, [ANN], word(3)),
  ]
  expect(balancesOf(resultOfLogs({ standard: 'erc20', profile: 'weth' }, ...logs))).toEqual({ [ANN]: 4n })
})

const [HOLDER, OTHER] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
/** Three arguments of which one address is not indexed: what is in the data is the other one. */
const misplaced = (party: string, id: bigint | number, other: string): WireLog =>
  logOf(TOPIC.transfer, [party, id], word(other))
const FROM_AND_ID = [
  misplaced(ZERO, 0, HOLDER),
  misplaced(ZERO, 7, HOLDER),
  misplaced(ZERO, 8, OTHER),
  misplaced(HOLDER, 7, ZERO),
]

test.each([
  ['the sender and the id are indexed', FROM_AND_ID, true],
  [
    'the recipient and the id are indexed',
    [misplaced(HOLDER, 7, ZERO), misplaced(OTHER, 7, HOLDER), misplaced(HOLDER, 7, OTHER)],
    true,
  ],
  [
    'one of the recipients is an address',
    [transfer(ZERO, person(7), 2n ** 70n), transfer(ZERO, HOLDER, 2n ** 70n)],
    false,
  ],
  ['an amount is below all addresses', [...FROM_AND_ID, transfer(ZERO, person(7), 2n ** 64n - 1n)], false],
  ['an amount is above all addresses', [...FROM_AND_ID, transfer(ZERO, person(7), 2n ** 160n)], false],
  ['there is one transfer only', [transfer(ZERO, person(7), 2n ** 64n)], false],
  ['all transfers are burns', [transfer(HOLDER, ZERO, 2n ** 64n), transfer(HOLDER, ZERO, 2n ** 64n)], false],
])('an id in the place of an address: %s', (_, logs, expected) => {
  expect(resultOf({ standard: 'erc20', fullHistory: false }, pageOf(placed(logs))).mayIndexId).toBe(expected)
})

test.each([
  [
    'erc721',
    FROM_AND_ID,
    /\(4\) are of an ERC-721 that indexes the id in the place of an address(?!.*(?:erc20|ERC-20))/s,
  ],
  [
    'erc721',
    [transfer(ZERO, ANN, 100), transfer(ZERO, BOB, 100)],
    /\(2\) are of ERC-20, or of an ERC-721 that does not index the id/,
  ],
  ['erc721', [transfer(ZERO, ANN, 100), transfer(ANN, BOB, 30)], /\(2\) are of ERC-20, or/],
  [
    'erc20',
    [handover(ZERO, ANN, 1), handover(ANN, BOB, 1)],
    /\(2\) are of ERC-721, not of ERC-20\n.*standard erc721; if .* an event of another name$/,
  ],
  ['erc721', [logOf(TOPIC.assign, [ANN], word(4)), transfer(ANN, BOB, 1)], /standard erc20.*profile punks/],
] as const)('the error for logs of another standard than %s names it: %j', (standard, logs, message) => {
  expect(() => resultOfLogs({ standard }, ...logs)).toThrow(message)
})

test('a range of ERC-2309 costs one entry, whatever its length', () => {
  const result = erc721(
    consecutive(ZERO, ANN, [0n, 2n ** 255n]),
    handover(ANN, BOB, 5),
    handover(ANN, ZERO, 7),
    consecutive(ANN, EVE, [10n, 9n]),
  )
  expect(ownersOf(result)).toEqual([[5n, BOB]])
  expect(result.intervals).toEqual([
    { from: 0n, to: 4n, owner: ANN },
    { from: 6n, to: 6n, owner: ANN },
    { from: 8n, to: 2n ** 255n, owner: ANN },
  ])
  expect(result.supply).toBe(2n ** 255n)
  expect(oddities(result)).toEqual({ malformed: 1 })
})

const assign = (to: string, punk: number): WireLog => logOf(TOPIC.assign, [to], word(punk))
const bought = (seller: string, buyer: string, punk: number): WireLog =>
  logOf(TOPIC.punkBought, [punk, seller, buyer], word(1000))
const punks = (...logs: readonly WireLog[]) => resultOfLogs({ standard: 'erc721', profile: 'punks' }, ...logs)

test('CryptoPunks, including accepted bids', () => {
  const result = punks(
    assign(ANN, 0),
    assign(ANN, 1),
    assign(ANN, 2),
    transfer(ANN, BOB, 1),
    logOf(TOPIC.punkTransfer, [ANN, BOB], word(0)),
    transfer(ANN, EVE, 1),
    bought(ANN, EVE, 1),
    // The contract clears the bid first, so the buyer in the event is the zero address.
    transfer(ANN, BOB, 1),
    bought(ANN, ZERO, 2),
  )
  expect(ownersOf(result)).toEqual([
    [0n, BOB],
    [1n, EVE],
    [2n, BOB],
  ])
  expect(oddities(result)).toEqual({})
  expect(result).toMatchObject({ nonConserving: false, supply: 3n })
})

test('CryptoPunks: a buyer without an event stays unknown', () => {
  const result = punks(assign(ANN, 2), transfer(EVE, BOB, 1), bought(ANN, ZERO, 2))
  expect(result.rows).toEqual([])
  expect(oddities(result)).toEqual({ unknownBuyer: 1 })
  expect(result).toMatchObject({ nonConserving: true, supply: null })
})

/** A batch of ERC-1155 from the zero address to Ann with these offsets and words. */
const rawBatch = (...words: readonly (number | bigint)[]): WireLog =>
  logOf(TOPIC.batch, [person(99), ZERO, ANN], words.map((one) => word(one)).join(''))

test('a batch follows its offsets: amounts first, arrays shared, arrays overlapping', () => {
  const items = [
    [5n, 50n],
    [6n, 60n],
  ] as const
  const plain = erc1155(batch(ZERO, ANN, items))
  expect(holdingsOf(plain)).toEqual(items.map(([id, amount]) => [id, ANN, amount]))
  expect(plain.stats.fastPages).toBe(1)
  // At byte 64 the amounts 50, 60, at 160 the ids 5, 6.
  expect(erc1155(rawBatch(160, 64, 2, 50, 60, 2, 5, 6)).rows).toEqual(plain.rows)
  expect(holdingsOf(erc1155(rawBatch(64, 64, 1, 7)))).toEqual([[7n, ANN, 7n]])
  // At byte 64 one id, 1; at 96, which is that id, one amount, 9.
  expect(holdingsOf(erc1155(rawBatch(64, 96, 1, 1, 9)))).toEqual([[1n, ANN, 9n]])
})

test.each([
  ['more ids than amounts', [64, 160, 2, 5, 6, 1, 50]],
  ['fewer ids than amounts', [64, 128, 1, 5, 2, 50, 60]],
  ['an offset at the end of the data', [128, 64, 1, 5]],
  ['an offset far beyond it', [2n ** 255n, 64, 1, 5]],
  ['a length beyond the data', [64, 64, 2, 5]],
  ['a length beyond all memory', [64, 64, 2n ** 255n, 5]],
  ['no room for the second offset', [64]],
] as const)('a batch with %s is rejected, and nothing allocated', (_title, words) => {
  const result = erc1155(rawBatch(...words))
  expect(result.rows).toEqual([])
  expect(oddities(result)).toEqual({ malformed: 1 })
})
