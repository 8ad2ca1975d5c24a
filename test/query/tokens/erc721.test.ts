import { expect, test } from 'vitest'
import { createLedger } from '../../../query/tokens/ledger.ts'
import { StandardError } from '../../../query/tokens/types.ts'
import {
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

const [ANN, BOB, EVE] = [person(1), person(2), person(3)]

const resultOfLogs = (...logs: readonly WireLog[]): ListedResult =>
  resultOf({ standard: 'erc721' }, pageOf(placed(logs)))

const ownersOf = ({ rows }: ListedResult) => rows.map(({ id, address }) => [id, address])

const consecutive = (from: string, to: string, [first, last]: readonly [bigint, bigint]): WireLog =>
  logOf(TOPIC.consecutive, [first, from, to], word(last))

test('edge case 20: the owner is the recipient of the last transfer by block and index', () => {
  const result = resultOf(
    { standard: 'erc721' },
    pageOf([
      ...placed([handover(ZERO, ANN, 1), handover(ZERO, ANN, 2)], 3),
      ...placed([handover(ANN, BOB, 1), handover(BOB, EVE, 1)], 4),
    ]),
  )
  expect(ownersOf(result)).toEqual([
    [1n, EVE],
    [2n, ANN],
  ])
  expect(result).toMatchObject({ nonConserving: false, supply: 2n, stats: { fastPages: 1 } })
})

test('edge case 21: a page in reverse order gives the same', () => {
  const logs = placed([handover(ZERO, ANN, 1), handover(ANN, BOB, 1), handover(BOB, EVE, 1)])
  const result = resultOf({ standard: 'erc721' }, pageOf(logs.toReversed()))
  expect(ownersOf(result)).toEqual([[1n, EVE]])
  expect(oddities(result)).toEqual({})
})

test('edge case 22: a burned token is left out, until it is minted again', () => {
  const burned = [handover(ZERO, ANN, 1), handover(ANN, ZERO, 1)]
  expect(resultOfLogs(...burned).rows).toEqual([])
  const again = resultOfLogs(...burned, handover(ZERO, BOB, 1))
  expect(ownersOf(again)).toEqual([[1n, BOB]])
  expect(again.supply).toBe(1n)
})

test('edge case 23: ids from 0 to 2^256 - 1 are exact, and in the order of integers', () => {
  const ids = [MOST, 0n, 10n, 9n, 2n ** 53n + 1n, 2n ** 53n]
  const result = resultOfLogs(...ids.map((id) => handover(ZERO, ANN, id)))
  expect(result.rows.map(({ id }) => id)).toEqual([0n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n, MOST])
  expect(result.stats.fastPages).toBe(1)
})

test('edge case 24: a log without an id is of another standard', () => {
  const result = resultOfLogs(handover(ZERO, ANN, 1), transfer(ANN, BOB, 1))
  expect(ownersOf(result)).toEqual([[1n, ANN]])
  expect(oddities(result)).toEqual({ wrongStandard: 1 })
})

test('edge case 25: the recipient owns the token even if the sender did not; that is counted', () => {
  const result = resultOfLogs(handover(ZERO, ANN, 1), handover(BOB, EVE, 1), handover(ANN, BOB, 2))
  expect(ownersOf(result)).toEqual([
    [1n, EVE],
    [2n, BOB],
  ])
  expect(oddities(result)).toEqual({ inconsistent: 2 })
  expect(result).toMatchObject({ nonConserving: true, supply: null })
})

test('edge case 25: with a partial history only known owners are checked', () => {
  const page = pageOf(placed([handover(ANN, BOB, 1), handover(EVE, ANN, 1)]))
  const result = resultOf({ standard: 'erc721', fullHistory: false }, page)
  expect(ownersOf(result)).toEqual([[1n, ANN]])
  expect(oddities(result)).toEqual({ inconsistent: 1 })
  expect(result).toMatchObject({ partial: true, nonConserving: false, supply: null })
})

test('edge case 26: a range of ERC-2309 costs one entry, whatever its length', () => {
  const result = resultOfLogs(
    consecutive(ZERO, ANN, [0n, 2n ** 255n]),
    handover(ANN, BOB, 5),
    handover(ANN, ZERO, 7),
    consecutive(ANN, EVE, [10n, 9n]),
    logOf(TOPIC.consecutive, [1, ANN, EVE], ''),
    logOf(TOPIC.consecutive, [1, ANN], word(2)),
  )
  expect(ownersOf(result)).toEqual([[5n, BOB]])
  expect(result.intervals).toEqual([
    { from: 0n, to: 4n, owner: ANN },
    { from: 6n, to: 6n, owner: ANN },
    { from: 8n, to: 2n ** 255n, owner: ANN },
  ])
  expect(result.supply).toBe(2n ** 255n)
  expect(oddities(result)).toEqual({ malformed: 3 })
})

test('edge case 26: a transfer of a range replaces the owners of its tokens', () => {
  const start = [consecutive(ZERO, ANN, [0n, 9n]), handover(ANN, BOB, 5)]
  const result = resultOfLogs(...start, consecutive(ANN, EVE, [3n, 4n]), consecutive(EVE, ZERO, [4n, 4n]))
  expect(result.intervals).toEqual([
    { from: 0n, to: 2n, owner: ANN },
    { from: 3n, to: 3n, owner: EVE },
    { from: 6n, to: 9n, owner: ANN },
  ])
  expect(result).toMatchObject({ nonConserving: false, supply: 9n })
  const stolen = resultOfLogs(...start, consecutive(ANN, EVE, [4n, 6n]))
  expect(stolen.rows).toEqual([])
  expect(oddities(stolen)).toEqual({ inconsistent: 1 })
})

test('edge case 27: CryptoKitties, without indexed arguments', () => {
  const result = resultOfLogs(logOf(TOPIC.transfer, [], word(ZERO) + word(ANN) + word(12)))
  expect(ownersOf(result)).toEqual([[12n, ANN]])
  expect(oddities(result)).toEqual({ unindexed: 1 })
})

test('edge case 27: ids in the data, next to indexed addresses, as in ERC-20', () => {
  const result = resultOfLogs(
    transfer(ZERO, ANN, 7),
    transfer(ZERO, ANN, 8),
    transfer(ZERO, ANN, 9),
    transfer(ANN, BOB, 9),
    transfer(ANN, ZERO, 8),
  )
  expect(ownersOf(result)).toEqual([
    [7n, ANN],
    [9n, BOB],
  ])
  expect(oddities(result)).toEqual({ unindexed: 5 })
  expect(result).toMatchObject({
    ambiguous: true,
    hybrid: false,
    nonConserving: false,
    supply: 2n,
    stats: { applied: 5 },
  })
})

test('edge case 27: amounts that contradict each other as ids are of ERC-20', () => {
  for (const logs of [
    [transfer(ZERO, ANN, 100), transfer(ZERO, BOB, 100)],
    [transfer(ZERO, ANN, 100), transfer(ANN, BOB, 30)],
    [transfer(ZERO, ANN, 100), transfer(BOB, ANN, 100), transfer(ANN, EVE, 100)],
  ]) {
    expect(() => resultOfLogs(...logs)).toThrow(
      new RegExp(String.raw`read \(${logs.length}\) are of ERC-20, or of an ERC-721 that does not index the id`),
    )
  }
})

test('edge case 24: after a log with an indexed id, none of the amounts is an id', () => {
  for (const second of [handover(ZERO, BOB, 1), consecutive(ZERO, BOB, [1n, 1n])]) {
    const result = resultOf(
      { standard: 'erc721' },
      pageOf(placed([transfer(ZERO, ANN, 7)], 1), { from: 0, next: 5 }),
      pageOf(placed([second], 5), { from: 5, next: 10 }),
      pageOf(placed([transfer(ZERO, ANN, 8)], 10), { from: 10, next: 20 }),
    )
    expect(ownersOf(result)).toEqual([[1n, BOB]])
    expect(oddities(result)).toEqual({ wrongStandard: 2 })
    expect(result).toMatchObject({ hybrid: true, ambiguous: false, nonConserving: false, supply: 1n })
  }
})

const assign = (to: string, punk: number): WireLog => logOf(TOPIC.assign, [to], word(punk))
const bought = (seller: string, buyer: string, punk: number): WireLog =>
  logOf(TOPIC.punkBought, [punk, seller, buyer], word(1000))

test('edge case 28: CryptoPunks without their profile are not ERC-721', () => {
  const ledger = createLedger({ standard: 'erc721', contract: CONTRACT, fullHistory: true })
  ledger.applyPage(pageOf(placed([assign(ANN, 4), transfer(ANN, BOB, 1)])))
  expect(() => ledger.result()).toThrow(StandardError)
  expect(() => ledger.result()).toThrow(/standard erc20.*profile punks/)
})

test('edge case 28: CryptoPunks with their profile, including accepted bids', () => {
  const result = resultOf(
    { standard: 'erc721', profile: 'punks' },
    pageOf(
      placed([
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
      ]),
    ),
  )
  expect(ownersOf(result)).toEqual([
    [0n, BOB],
    [1n, EVE],
    [2n, BOB],
  ])
  expect(oddities(result)).toEqual({})
  expect(result).toMatchObject({ nonConserving: false, supply: 3n })
})

test('edge case 28: a buyer without an event stays unknown', () => {
  const result = resultOf(
    { standard: 'erc721', profile: 'punks' },
    pageOf(placed([assign(ANN, 2), transfer(EVE, BOB, 1), bought(ANN, ZERO, 2)])),
  )
  expect(result.rows).toEqual([])
  expect(oddities(result)).toEqual({ unknownBuyer: 1 })
  expect(result).toMatchObject({ nonConserving: true, supply: null })
})
