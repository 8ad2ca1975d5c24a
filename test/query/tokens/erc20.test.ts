import { describe, expect, test } from 'vitest'
import { createLedger } from '../../../query/tokens/ledger.ts'
import { StandardError } from '../../../query/tokens/types.ts'
import { toChecksumAddress } from '../../../query/tokens/signatures.ts'
import {
  balancesOf,
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
  resultOf({ standard: 'erc20' }, pageOf(placed(logs)))

describe('standard transfers', () => {
  const dead = '0x000000000000000000000000000000000000dead'
  test.for<[string, readonly WireLog[], Readonly<Record<string, bigint>>, bigint]>([
    ['edge case 01: a mint raises the balance of the recipient', [transfer(ZERO, ANN, 100)], { [ANN]: 100n }, 100n],
    [
      'edge case 02: a burn lowers the balance of the sender',
      [transfer(ZERO, ANN, 100), transfer(ANN, ZERO, 30)],
      { [ANN]: 70n },
      70n,
    ],
    [
      'edge case 03: a self transfer changes nothing',
      [transfer(ZERO, ANN, 5), transfer(ANN, ANN, 5), transfer(BOB, BOB, 9)],
      { [ANN]: 5n },
      5n,
    ],
    [
      'edge case 04: an amount of 0 creates no holder',
      [transfer(ZERO, ANN, 5), transfer(ANN, BOB, 0), transfer(EVE, BOB, 0)],
      { [ANN]: 5n },
      5n,
    ],
    [
      'edge case 16: with a fee, each transfer of the transaction is applied',
      [transfer(ZERO, ANN, 100), transfer(ANN, EVE, 3), transfer(ANN, ZERO, 2), transfer(ANN, BOB, 95)],
      { [BOB]: 95n, [EVE]: 3n },
      98n,
    ],
    [
      'edge case 18: the contract itself, and 0x…dead, are ordinary holders',
      [transfer(ZERO, CONTRACT, 4), transfer(CONTRACT, dead, 1)],
      { [CONTRACT]: 3n, [dead]: 1n },
      4n,
    ],
  ])('%s, and the supply follows', ([, logs, balances, supply]) => {
    const result = resultOfLogs(...logs)
    expect(balancesOf(result)).toEqual(balances)
    expect(result).toMatchObject({ supply, nonConserving: false, stats: { applied: logs.length, fastPages: 1 } })
  })

  test('edge case 05: the greatest amount, and sums beyond 256 bits, are exact', () => {
    const result = resultOfLogs(
      ...[ANN, ANN, BOB].map((to) => transfer(ZERO, to, MOST)),
      ...[ZERO, ZERO].map((to) => transfer(EVE, to, MOST)),
      transfer(EVE, ANN, 1),
    )
    expect(balancesOf(result)).toEqual({ [ANN]: 2n * MOST + 1n, [BOB]: MOST, [EVE]: -2n * MOST - 1n })
    expect(oddities(result)).toEqual({ overflow: 2 })
    expect(result.stats.fastPages).toBe(1)
  })

  test('edge case 19: balances that do not add up to the supply are an error', () => {
    const options = { standard: 'erc20', contract: CONTRACT, fullHistory: true } as const
    const ledger = createLedger(options)
    ledger.applyPage(pageOf(placed([transfer(ZERO, ANN, 0x1234_5678)])))
    const saved = ledger.snapshot()
    const words = new Int32Array(saved.slice().buffer)
    // The supply is written before the balances.
    words[words.indexOf(0x1234_5678)] = 0x1234_5679
    const body = new Uint8Array(words.buffer, 0, saved.length - 4)
    words[words.length - 1] = body.reduce((sum, byte) => Math.imul(sum ^ byte, 0x0100_0193), 0x811c_9dc5)
    const other = createLedger(options)
    other.restore(new Uint8Array(words.buffer))
    expect(() => other.result()).toThrow(/add up to 305419896, but 305419897 were minted/)
  })
})

describe('unusual data', () => {
  const dirty = `0x${'f'.repeat(24)}${BOB.slice(2)}`
  const logged = (topics: readonly string[], data: string): WireLog => logOf(TOPIC.transfer, topics, data)
  test.for<[string, readonly WireLog[], Readonly<Record<string, bigint>>, Readonly<Record<string, number>>]>([
    ['edge case 06: no data is malformed, not 0', [logged([ZERO, BOB], '')], {}, { malformed: 1 }],
    ['edge case 07: data of 31 bytes is not padded', [logged([ZERO, BOB], '00'.repeat(31))], {}, { malformed: 1 }],
    ['edge case 07: data of one byte is not padded', [logged([ZERO, BOB], '05')], {}, { malformed: 1 }],
    [
      'edge case 08: longer data: the first word is the amount',
      [logged([ZERO, BOB], `${word(7)}${word(9)}`)],
      { [BOB]: 7n },
      { oversizeData: 1 },
    ],
    [
      'edge case 09: arguments that are not indexed are in the data',
      [logged([], word(ZERO) + word(BOB) + word(7))],
      { [BOB]: 7n },
      { unindexed: 1 },
    ],
    [
      'edge case 10: one indexed argument and two words of data; other shapes are malformed',
      [
        logged([ZERO], word(BOB) + word(7)),
        logged([ZERO], word(BOB)),
        logged([ZERO], word(BOB) + word(7) + word(8)),
        logged([], word(ZERO) + word(BOB)),
        logged([], ''),
      ],
      { [BOB]: 7n },
      { unindexed: 1, malformed: 4 },
    ],
    [
      'edge case 12: the last 20 bytes of a topic are the address',
      [transfer(ZERO, ANN, 5), transfer(ANN, dirty, 2)],
      { [ANN]: 3n, [BOB]: 2n },
      { dirtyTopic: 1 },
    ],
  ])('%s', ([, logs, balances, odd]) => {
    const result = resultOfLogs(...logs)
    expect(balancesOf(result)).toEqual(balances)
    expect(oddities(result)).toEqual(odd)
  })

  test('edge case 13: upper and lower case are the same address', () => {
    const lower = `0x${'ab'.repeat(20)}`
    const upper = `0x${'AB'.repeat(20)}`
    const page = pageOf(
      placed([{ ...transfer(ZERO, upper, 5), address: `0x${'C0'.repeat(20)}` }, transfer(ZERO, lower, 1)]),
    )
    const { rows } = resultOf({ standard: 'erc20' }, page)
    expect(rows).toEqual([{ address: lower, id: null, balance: 6n }])
    expect(toChecksumAddress(lower)).toBe('0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB')
  })
})

describe('histories that do not add up', () => {
  const given = pageOf(placed([transfer(ANN, BOB, 4)]))

  test('edge case 14: from a later block on, negative balances stay, and the result is partial', () => {
    const result = resultOf({ standard: 'erc20', fullHistory: false }, given)
    expect(balancesOf(result)).toEqual({ [BOB]: 4n, [ANN]: -4n })
    expect(result).toMatchObject({ partial: true, nonConserving: false, supply: null })
  })

  test('edge case 15: a negative balance after the full history is marked', () => {
    const result = resultOf({ standard: 'erc20' }, given)
    expect(balancesOf(result)).toEqual({ [BOB]: 4n, [ANN]: -4n })
    expect(result).toMatchObject({ partial: false, nonConserving: true, supply: null })
  })

  test('edge case 15: wrapped ether adds up with its profile', () => {
    const page = pageOf(
      placed([
        logOf(TOPIC.deposit, [ANN], word(10)),
        transfer(ANN, BOB, 4),
        logOf(TOPIC.withdrawal, [BOB], word(1)),
        logOf(TOPIC.deposit, [ANN], ''),
        logOf(TOPIC.deposit, [ANN, BOB], word(1)),
      ]),
    )
    const without = resultOf({ standard: 'erc20' }, page)
    expect(without.nonConserving).toBe(true)
    expect(oddities(without)).toEqual({ unrequested: 4 })
    const result = resultOf({ standard: 'erc20', profile: 'weth' }, page)
    expect(balancesOf(result)).toEqual({ [ANN]: 6n, [BOB]: 3n })
    expect(result).toMatchObject({ nonConserving: false, supply: 9n })
    expect(oddities(result)).toEqual({ malformed: 2 })
  })

  test('edge case 15: a balance below 0 at the end of a block is marked, also if later transfers make up for it', () => {
    // Ann was given 640 without an event, and sold them to Bob.
    const result = resultOf(
      { standard: 'erc20' },
      pageOf([
        ...placed([transfer(ANN, BOB, 640)], 10),
        ...placed([transfer(ZERO, EVE, 1000)], 11),
        ...placed([transfer(EVE, ANN, 700)], 12),
      ]),
    )
    expect(balancesOf(result)).toEqual({ [BOB]: 640n, [EVE]: 300n, [ANN]: 60n })
    expect(result).toMatchObject({ nonConserving: true, supply: null, stats: { fastPages: 1 } })
    expect(result.outOfRange).toEqual({ block: 10, address: ANN, id: null, balance: -640n })
  })

  test('edge case 15: so is one of another page, and one that ends with no holder at all', () => {
    const there = pageOf(placed([transfer(ANN, BOB, 10)], 11), { from: 0, next: 12 })
    const back = pageOf(placed([transfer(BOB, ANN, 10)], 12), { from: 12, next: 20 })
    const result = resultOf({ standard: 'erc20' }, there, back)
    expect(result).toMatchObject({ rows: [], nonConserving: true, supply: null })
    expect(result.outOfRange).toEqual({ block: 11, address: ANN, id: null, balance: -10n })
  })

  test('edge case 15: within a block the order of the logs does not matter: hooks of ERC-777 log first', () => {
    const result = resultOf(
      { standard: 'erc20' },
      pageOf([...placed([transfer(ZERO, ANN, 5)], 10), ...placed([transfer(BOB, EVE, 5), transfer(ANN, BOB, 5)], 11)]),
    )
    expect(balancesOf(result)).toEqual({ [EVE]: 5n })
    expect(result).toMatchObject({ nonConserving: false, outOfRange: null, supply: 5n })
  })

  test('edge case 15: a balance of more than 256 bits at the end of a block is marked, not one within it', () => {
    const mints = [transfer(ZERO, ANN, MOST), transfer(ZERO, ANN, 5)]
    const away = transfer(ANN, BOB, MOST)
    const later = resultOf({ standard: 'erc20' }, pageOf([...placed(mints, 10), ...placed([away], 11)]))
    expect(later.nonConserving).toBe(true)
    expect(later.outOfRange).toEqual({ block: 10, address: ANN, id: null, balance: MOST + 5n })
    const burn = transfer(ANN, ZERO, 5)
    const within = resultOf({ standard: 'erc20' }, pageOf(placed([...mints, burn, away], 10)))
    expect(within).toMatchObject({ nonConserving: false, outOfRange: null, supply: MOST })
    expect(oddities(within)).toEqual({})
  })

  test('edge case 15: a supply of more than 256 bits is marked, also if each balance is less', () => {
    const result = resultOfLogs(transfer(ZERO, ANN, MOST), transfer(ZERO, BOB, 1))
    expect(result).toMatchObject({ nonConserving: true, outOfRange: null, supply: null })
    expect(oddities(result)).toEqual({ overflow: 1 })
    const most = resultOfLogs(transfer(ZERO, ANN, MOST - 1n), transfer(ZERO, BOB, 1))
    expect(most).toMatchObject({ nonConserving: false, supply: MOST })
    expect(oddities(most)).toEqual({})
  })

  test('edge case 17: a rebase without events shows as a negative balance', () => {
    const before = resultOfLogs(transfer(ZERO, ANN, 100))
    expect(before.nonConserving).toBe(false)
    const after = resultOfLogs(transfer(ZERO, ANN, 100), transfer(ANN, BOB, 105))
    expect(balancesOf(after)).toEqual({ [BOB]: 105n, [ANN]: -5n })
    expect(after.nonConserving).toBe(true)
  })
})

describe('a wrapped token that logs a deposit and its Transfer', () => {
  const deposit = (to: string, amount: number): WireLog => logOf(TOPIC.deposit, [to], word(amount))
  const withdrawal = (from: string, amount: number): WireLog => logOf(TOPIC.withdrawal, [from], word(amount))
  const wrappedOf = (...blocks: readonly (readonly WireLog[])[]): ListedResult =>
    resultOf({ standard: 'erc20', profile: 'weth' }, pageOf(blocks.flatMap((logs, at) => placed(logs, 10 + at))))

  test('edge case 15: each pair is counted once, in either order', () => {
    const result = wrappedOf(
      [deposit(ANN, 10), transfer(ZERO, ANN, 10)],
      [transfer(ZERO, BOB, 5), deposit(BOB, 5)],
      [withdrawal(BOB, 2), transfer(BOB, ZERO, 2)],
    )
    expect(balancesOf(result)).toEqual({ [ANN]: 10n, [BOB]: 3n })
    expect(result).toMatchObject({ supply: 13n, nonConserving: false })
    expect(oddities(result)).toEqual({ paired: 3 })
  })

  test('edge case 15: one Transfer is the pair of one deposit, of the same block, holder and amount', () => {
    const result = wrappedOf(
      [deposit(ANN, 10), deposit(ANN, 10), transfer(ZERO, ANN, 10), deposit(ANN, 4)],
      [transfer(ZERO, ANN, 4), deposit(BOB, 4)],
    )
    // 10 + 10 + 4 in the first block, 4 and 4 in the second.
    expect(balancesOf(result)).toEqual({ [ANN]: 28n, [BOB]: 4n })
    expect(oddities(result)).toEqual({ paired: 1 })
  })

  test('edge case 15: a transfer to the zero address next to an equal withdrawal is no pair if deposits have none', () => {
    const result = wrappedOf([deposit(ANN, 10)], [transfer(ANN, ZERO, 3), withdrawal(ANN, 3)])
    expect(balancesOf(result)).toEqual({ [ANN]: 4n })
    expect(oddities(result)).toEqual({})
    // Anyone can transfer 0 from the zero address.
    const zero = wrappedOf(
      [deposit(ANN, 10), transfer(ZERO, EVE, 0), deposit(EVE, 0)],
      [transfer(ANN, ZERO, 3), withdrawal(ANN, 3)],
    )
    expect(balancesOf(zero)).toEqual({ [ANN]: 4n })
  })
})

describe('amounts that may be ids', () => {
  const mints = [transfer(ZERO, ANN, 7), transfer(ZERO, ANN, 8), transfer(ZERO, ANN, 9)]

  test.each([
    ['minted once and moved as a whole', [...mints, transfer(ANN, BOB, 9)], true],
    ['burned and minted again', [...mints, transfer(ANN, ZERO, 9), transfer(ZERO, EVE, 9)], true],
    ['moved in part', [...mints, transfer(ANN, BOB, 5)], false],
    ['moved by another than the owner', [...mints, transfer(BOB, EVE, 9)], false],
    ['minted twice', [...mints, transfer(ZERO, BOB, 9)], false],
    ['a single amount', [transfer(ZERO, ANN, 7), transfer(ANN, BOB, 7)], false],
    ['next to indexed ids', [...mints, handover(ZERO, ANN, 10)], false],
  ])('edge case 11: %s', (_title, logs, expected) => {
    expect(resultOfLogs(...logs).ambiguous).toBe(expected)
  })

  test('edge case 14: with a part of the history nothing is known about the owners', () => {
    const page = pageOf(placed(mints))
    expect(resultOf({ standard: 'erc20', fullHistory: false }, page).ambiguous).toBe(false)
  })
})

describe('an id in the place of an address', () => {
  const [HOLDER, OTHER] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
  /** Three arguments of which one address is not indexed: what is in the data is the other one. */
  const logged = (party: string, id: bigint | number, other: string): WireLog =>
    logOf(TOPIC.transfer, [party, id], word(other))
  const fromAndId = [logged(ZERO, 0, HOLDER), logged(ZERO, 7, HOLDER), logged(ZERO, 8, OTHER), logged(HOLDER, 7, ZERO)]
  const toAndId = [logged(HOLDER, 0, ZERO), logged(HOLDER, 7, ZERO), logged(OTHER, 7, HOLDER), logged(HOLDER, 7, OTHER)]

  test.each([
    ['the sender and the id are indexed', fromAndId],
    ['the recipient and the id are indexed', toAndId],
  ])('is noticed if %s, in any part of the history', (_, logs) => {
    for (const fullHistory of [true, false]) {
      const result = resultOf({ standard: 'erc20', fullHistory }, pageOf(placed(logs)))
      expect(result).toMatchObject({ mayIndexId: true, ambiguous: true })
    }
  })

  test('the error of ERC-721 does not name ERC-20', () => {
    const ledger = createLedger({ standard: 'erc721', contract: CONTRACT, fullHistory: true })
    ledger.applyPage(pageOf(placed(fromAndId)))
    expect(() => ledger.result()).toThrow(/are of an ERC-721 that indexes the id in the place of an address/)
    expect(() => ledger.result()).not.toThrow(/erc20|ERC-20/)
  })

  test('is kept in a snapshot', () => {
    for (const standard of ['erc20', 'erc721'] as const) {
      const options = { standard, contract: CONTRACT, fullHistory: true }
      const [before, after] = [createLedger(options), createLedger(options)]
      const distinct = [logged(ZERO, 7, HOLDER), logged(ZERO, 8, OTHER)]
      before.applyPage(pageOf(placed(distinct)))
      after.restore(before.snapshot())
      expect(after.result()).toMatchObject({ mayIndexId: true, ambiguous: true })
    }
  })

  test.each([
    ['one of the recipients is an address', [transfer(ZERO, person(7), 2n ** 70n), transfer(ZERO, HOLDER, 2n ** 70n)]],
    ['an amount is below all addresses', [...fromAndId, transfer(ZERO, person(7), 2n ** 64n - 1n)]],
    ['an amount is above all addresses', [...fromAndId, transfer(ZERO, person(7), 2n ** 160n)]],
    ['there is one transfer only', [transfer(ZERO, person(7), 2n ** 64n)]],
    ['all transfers are burns', [transfer(HOLDER, ZERO, 2n ** 64n), transfer(HOLDER, ZERO, 2n ** 64n)]],
  ])('is not claimed if %s', (_, logs) => {
    expect(resultOf({ standard: 'erc20', fullHistory: false }, pageOf(placed(logs))).mayIndexId).toBe(false)
  })
})

describe('another standard', () => {
  test('edge case 11: if all transfers have an id, the error names ERC-721', () => {
    const page = pageOf(placed([handover(ZERO, ANN, 1), logOf(TOPIC.transfer, [ANN, BOB, 1], word(5))]))
    const ledger = createLedger({ standard: 'erc20', contract: CONTRACT, fullHistory: true })
    ledger.applyPage(page)
    expect(() => ledger.result()).toThrow(StandardError)
    expect(() => ledger.result()).toThrow(
      /all Transfer events that were read \(2\) are of ERC-721, not of ERC-20\n.*standard erc721; if .* an event of another name$/,
    )
  })

  test('edge case 36: a hybrid is split by the count of topics, and each standard has its part', () => {
    const page = pageOf(placed([transfer(ZERO, ANN, 10n ** 18n), handover(ZERO, ANN, 7), handover(ANN, BOB, 7)]))
    const amounts = resultOf({ standard: 'erc20' }, page)
    expect(amounts).toMatchObject({ hybrid: true, supply: 10n ** 18n })
    expect(balancesOf(amounts)).toEqual({ [ANN]: 10n ** 18n })
    expect(oddities(amounts)).toEqual({ wrongStandard: 2 })
    const tokens = resultOf({ standard: 'erc721' }, page)
    expect(tokens).toMatchObject({ hybrid: true, supply: 1n })
    expect(tokens.rows).toEqual([{ address: BOB, id: 7n, balance: 1n }])
    expect(oddities(tokens)).toEqual({ wrongStandard: 1 })
  })
})
