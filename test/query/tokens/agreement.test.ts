import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BalanceRow, StandardError } from '../../../query/tokens/types.ts'
import { createLedger, type Ledger, type LedgerResult } from '../../../query/tokens/ledger.ts'
import { historyOf, narrowHistoryOf, plainPageOf, type Standard } from './histories.ts'
import { askOracle, type OracleOptions, type OraclePage, type OracleResult } from './oracle.ts'
import {
  bodyOf,
  CONTRACT,
  handover,
  listed,
  type ListedResult,
  MOST,
  onPath,
  type PageBounds,
  pageOf,
  pageOfBody,
  type Path,
  PATHS,
  person,
  placed,
  single,
  transfer,
  type WireLog,
  withoutPaths,
  ZERO,
} from './pages.ts'

const SEED = 20_251_121
const STANDARDS: readonly Standard[] = ['erc20', 'erc721', 'erc1155']

const cases: readonly OracleOptions[] = [
  ...STANDARDS.flatMap((standard) => [true, false].map((fullHistory) => ({ standard, fullHistory, profile: null }))),
  { standard: 'erc20', fullHistory: true, profile: 'weth' },
]

const ledgerOf = (options: OracleOptions): Ledger => createLedger({ contract: CONTRACT, ...options })

const resultOf = (ledger: Ledger): ListedResult | string => {
  try {
    const result = ledger.result()
    expectRows(result)
    return listed(result)
  } catch (error) {
    if (error instanceof StandardError) return String(error.found)
    throw error
  }
}

/** The rows are in their order, and their text is that of the numbers. */
const expectRows = ({ rows }: LedgerResult): void => {
  const list = [...rows]
  expect(list).toHaveLength(rows.length)
  expect(list.toSorted(inOrder)).toEqual(list)
  const text = list.map(({ address, id, balance }) => `<${address}${id === null ? '' : `#${id}`}=${balance}>`)
  expect([...rows.text({ open: '<', id: '#', balance: '=', close: '>' })].join('')).toBe(text.join(''))
}

const inOrder = (a: BalanceRow, b: BalanceRow): number => {
  if (a.id !== b.id) return (a.id ?? 0n) < (b.id ?? 0n) ? -1 : 1
  if (a.balance !== b.balance) return a.balance > b.balance ? -1 : 1
  return a.address < b.address ? -1 : 1
}

const NOT_ODD = ['pages', 'fastPages', 'logs', 'applied', 'overflow']

/** The result in the format of the oracle. */
const asOracle = (standard: Standard, result: ListedResult): Pick<OracleResult, 'held' | 'odd' | 'applied'> => {
  const held = new Map<string, bigint | string>()
  for (const { address, id, balance } of result.rows) {
    if (standard === 'erc721') held.set(String(id), address)
    else held.set(`${address} ${id ?? ''}`, balance)
  }
  for (const { from, to, owner } of result.intervals) {
    for (let id = from; id <= to; id += 1n) held.set(String(id), owner)
  }
  const odd = Object.fromEntries(
    Object.entries(result.stats).filter(([name, count]) => count > 0 && !NOT_ODD.includes(name)),
  )
  return { held, odd, applied: result.stats.applied }
}

const expectAgreement = (options: OracleOptions, pages: readonly OraclePage[]): ListedResult | string => {
  const told = askOracle(options, pages)
  const [fast, generic] = PATHS.map((path) => {
    const ledger = ledgerOf(options)
    for (const page of pages) ledger.applyPage(onPath(path, pageOf(page.logs, page)))
    return resultOf(ledger)
  })
  if (fast === undefined || generic === undefined) throw new Error('unreachable')
  if (typeof fast === 'string' || typeof generic === 'string') {
    expect(fast).toBe(generic)
    expect(told.applied).toBe(0)
    return fast
  }
  expect(withoutPaths(fast)).toEqual(withoutPaths(generic))
  const { supply, outOfRange, mayBeIds, mayIndexId, ...rest } = told
  expect(asOracle(options.standard, fast)).toEqual(rest)
  const hasSupply = options.standard !== 'erc1155'
  const isExplained =
    outOfRange === null && !(hasSupply && supply >= 2n ** 256n) && (told.odd['inconsistent'] ?? 0) === 0
  expect(fast).toMatchObject({
    partial: !options.fullHistory,
    nonConserving: options.fullHistory && !isExplained,
    hybrid: told.applied > 0 && (told.odd['wrongStandard'] ?? 0) > 0,
    supply: options.fullHistory && isExplained && hasSupply ? supply : null,
  })
  const { block, address, id, balance } = fast.outOfRange ?? {}
  expect(block).toBe(options.fullHistory ? outOfRange?.block : undefined)
  expect(balance).toBe(block === undefined ? undefined : outOfRange?.held.get(`${address} ${id ?? ''}`))
  expect(fast.mayIndexId).toBe(mayIndexId)
  expect(fast.ambiguous).toBe(mayBeIds || mayIndexId || (told.odd['unindexed'] ?? 0) > 0)
  return fast
}

/** What must occur among narrow histories. */
const occurring = ({ standard, fullHistory, profile = null }: OracleOptions): readonly string[] => {
  if (standard === 'erc721') return ['none', 'ambiguous', 'contradicted', 'hybrid']
  const marks = fullHistory ? ['none', 'hidden'] : ['none']
  if (standard === 'erc1155') return marks
  if (profile === 'weth') return [...marks, 'paired']
  return fullHistory ? [...marks, 'ambiguous'] : marks
}

describe.each(cases)('$standard, whole history: $fullHistory, profile: $profile', (options) => {
  test('fast path, generic path and oracle agree on any history', () => {
    let fastPages = 0
    let pages = 0
    fc.assert(
      fc.property(historyOf(options.standard), (history) => {
        const result = expectAgreement(options, history)
        if (typeof result === 'string') return
        fastPages += result.stats.fastPages
        pages += result.stats.pages
      }),
      { seed: SEED, numRuns: 150 },
    )
    // Otherwise the generic path would be compared with itself.
    expect(fastPages).toBeGreaterThan(pages / 5)
    expect(fastPages).toBeLessThan(pages)
  })

  test('they agree on few holders and amounts, where transfers pair up and make up for each other', () => {
    const seen = { hidden: 0, none: 0, ambiguous: 0, paired: 0, contradicted: 0, hybrid: 0 }
    fc.assert(
      fc.property(narrowHistoryOf(options.standard), (history) => {
        const result = expectAgreement(options, history)
        if (typeof result === 'string') {
          seen.contradicted += 1
          return
        }
        const isNegative = result.rows.some(({ balance }) => balance < 0n)
        if (result.outOfRange !== null && !isNegative) seen.hidden += 1
        if (result.outOfRange === null && result.rows.length > 0) seen.none += 1
        if (result.ambiguous) seen.ambiguous += 1
        if (result.stats.paired > 0) seen.paired += 1
        if (result.hybrid) seen.hybrid += 1
      }),
      { seed: SEED, numRuns: 500 },
    )
    const often = Object.entries(seen).flatMap(([name, count]) => (count >= 5 ? [name] : []))
    // Otherwise a rule would not be compared.
    expect(often).toEqual(expect.arrayContaining([...occurring(options)]))
  })

  test('after a snapshot and a restore at any page the result is the same', () => {
    const histories = fc.oneof(historyOf(options.standard), narrowHistoryOf(options.standard))
    fc.assert(
      fc.property(histories, fc.nat(3), fc.boolean(), (history, after, isFast) => {
        const through = ledgerOf(options)
        let saved = ledgerOf(options)
        for (const [at, page] of history.entries()) {
          through.applyPage(pageOf(page.logs, page))
          saved.applyPage(onPath(isFast || at <= after ? 'fast' : 'generic', pageOf(page.logs, page)))
          if (at !== after) continue
          const bytes = saved.snapshot()
          saved = ledgerOf(options)
          saved.restore(bytes)
        }
        const [one, other] = [resultOf(through), resultOf(saved)]
        if (typeof one === 'string' || typeof other === 'string') expect(other).toBe(one)
        else if (isFast) expect(other).toEqual(one)
        else expect(withoutPaths(other)).toEqual(withoutPaths(one))
      }),
      { seed: SEED, numRuns: 300 },
    )
  })
})

test('the largest amount is not negative, and the smallest negative balance is not zero', () => {
  const mint = { from: 0, next: 10, logs: placed([transfer(ZERO, person(1), MOST)]) }
  expectAgreement({ standard: 'erc20', fullHistory: true }, [mint])
  const logs = placed([transfer(person(1), person(2), 1)])
  expectAgreement({ standard: 'erc20', fullHistory: true }, [{ from: 0, next: 10, logs }])
})

test('tables keep their content when they grow', () => {
  // A thousand holders, each with one token.
  const [erc20, erc721, erc1155] = STANDARDS.map((standard) => {
    const logs = placed(Array.from({ length: 1000 }, (_, at) => mintOf(standard, at + 1)))
    const result = expectAgreement({ standard, fullHistory: true }, [{ from: 0, next: 10, logs }])
    if (typeof result === 'string') throw new Error(result)
    expect(result.stats.fastPages).toBe(1)
    return result.rows
  })
  expect(erc20?.map(({ balance }) => balance)).toEqual(range(1000).toReversed())
  expect(erc721?.map(({ id, address }) => [id, BigInt(address)])).toEqual(range(1000).map((one) => [one, one]))
  expect(erc1155?.map(({ id, balance }) => [id, balance])).toEqual(range(1000).map((one) => [one, one]))
})

test('a text longer than one chunk has all rows', () => {
  const logs = placed(range(5000).map((one) => transfer(ZERO, person(Number(one)), one % 7n)))
  const result = expectAgreement({ standard: 'erc20', fullHistory: true }, [{ from: 0, next: 10, logs }])
  if (typeof result === 'string') throw new Error(result)
  // An amount of 0 creates no holder.
  expect(result.rows).toHaveLength(5000 - Math.floor(5000 / 7))
})

const range = (length: number): readonly bigint[] => Array.from({ length }, (_, at) => BigInt(at + 1))

const mintOf = (standard: Standard, number: number): WireLog => {
  if (standard === 'erc20') return transfer(ZERO, person(number), number)
  if (standard === 'erc721') return handover(ZERO, person(number), number)
  return single(ZERO, person(number), [number, number])
}

describe.each(STANDARDS)('%s, damaged bytes', (standard) => {
  const options = { standard, fullHistory: true }

  const outcomeOf = (path: Path, body: Uint8Array, bounds: PageBounds) => {
    const ledger = ledgerOf(options)
    let isRefused = false
    try {
      ledger.applyPage(onPath(path, pageOfBody(body, bounds)))
    } catch {
      isRefused = true
    }
    const result = resultOf(ledger)
    const isFast = typeof result !== 'string' && result.stats.fastPages === 1
    return { isRefused, isFast, result: typeof result === 'string' ? result : withoutPaths(result) }
  }

  const DICTIONARY = [
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '0',
    '1',
    '-',
    'e9',
    '.5',
    'null',
    'true',
    'false',
    ' ',
    '\\',
    '0x',
    'f',
    'G',
    '"topic3":null,',
    '"removed":true,',
    '"logs":[],',
    '"data":[],',
    '\u00e9',
    '\u0000',
    '"log_index":1,',
    '"block_number":2,',
  ]

  const text = fc.constantFrom(...DICTIONARY).map((one) => Buffer.from(one))
  const digit = fc.constantFrom(...Array.from('0123456789abcdef')).map((one) => Buffer.from(one))
  const damage = fc.tuple(
    fc.nat(9999),
    fc.oneof(
      fc.tuple(fc.oneof(digit, text), fc.constant(null)),
      fc.tuple(fc.oneof(text, fc.uint8Array({ maxLength: 2 })), fc.nat(90)),
    ),
  )

  test('the fast path rejects them or agrees', () => {
    let [fast, refused, runs] = [0, 0, 0]
    fc.assert(
      fc.property(plainPageOf(standard), fc.array(damage, { minLength: 1, maxLength: 2 }), (page, all) => {
        let body: Uint8Array = bodyOf(page.logs, page.next)
        for (const [at, [put, cut]] of all) {
          const start = Math.floor((at * body.length) / 10_000)
          const end = start + (cut ?? put.length)
          body = Buffer.concat([body.subarray(0, start), put, body.subarray(end)])
        }
        const { isFast, ...one } = outcomeOf('fast', body, page)
        const { isFast: _, ...other } = outcomeOf('generic', body, page)
        expect(one).toEqual(other)
        runs += 1
        if (isFast) fast += 1
        if (one.isRefused) refused += 1
      }),
      { seed: SEED, numRuns: 600 },
    )
    expect(fast).toBeGreaterThan(runs / 20)
    expect(refused).toBeGreaterThan(runs / 4)
  })
})
