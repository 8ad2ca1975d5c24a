import { describe, expect, test } from 'vitest'
import { QueryError } from '../../../query/client/errors.ts'
import { createLedger } from '../../../query/tokens/ledger.ts'
import type { LedgerOptions } from '../../../query/tokens/types.ts'
import { LEDGER_FIELDS } from '../../../query/tokens/signatures.ts'
import {
  balancesOf,
  bodyOf,
  CONTRACT,
  handover,
  listed,
  oddities,
  onPath,
  pageOf,
  pageOfBody,
  PATHS,
  person,
  placed,
  resultOf,
  transfer,
  word,
  ZERO,
} from './pages.ts'

const [ANN, BOB] = [person(1), person(2)]
const ERC20: LedgerOptions = { standard: 'erc20', contract: CONTRACT, fullHistory: true }
const MINT = transfer(ZERO, ANN, 10)

describe('which logs are applied', () => {
  test('two logs of one page with one position are rejected, equal or different', () => {
    // The log_index begins again in each transaction: Bob has 10, and must not have 5.
    const given = transfer(ANN, BOB, 5)
    for (const second of [given, transfer(ANN, BOB, 6)]) {
      const page = pageOf([...placed([MINT], 1), ...placed([given], 2), ...placed([second], 2)])
      expect(() => resultOf(ERC20, page)).toThrow(
        /two logs of one response have the same block_number and log_index\n {2}output: log_index 0 in block 2\n {2}what to do: .*begins again in each transaction/,
      )
    }
  })

  test('of a page that overlaps the one before, only new blocks are applied', () => {
    const result = resultOf(
      ERC20,
      pageOf(placed([MINT], 5), { from: 0, next: 10 }),
      pageOf([...placed([MINT], 5), ...placed([MINT], 12)], { from: 5, next: 20 }),
    )
    expect(balancesOf(result)).toEqual({ [ANN]: 20n })
    expect(oddities(result)).toEqual({ duplicate: 1 })
  })

  test('a page of applied blocks changes nothing, and the next page continues after all of them', () => {
    const result = resultOf(
      ERC20,
      pageOf(placed([MINT], 5), { from: 0, next: 10 }),
      pageOf(placed([MINT], 5), { from: 3, next: 7 }),
      pageOf(placed([MINT], 12), { from: 10, next: 20 }),
    )
    expect(balancesOf(result)).toEqual({ [ANN]: 20n })
    expect(oddities(result)).toEqual({ duplicate: 1 })
  })

  test('another log may have the position of a removed one', () => {
    const sent = { ...transfer(ANN, BOB, 3), block_number: 2, log_index: 0 }
    const other = { ...transfer(ANN, BOB, 4), block_number: 2, log_index: 0 }
    const result = resultOf(ERC20, pageOf([...placed([MINT]), sent, { ...sent, removed: true }, other]))
    expect(balancesOf(result)).toEqual({ [ANN]: 6n, [BOB]: 4n })
    expect(oddities(result)).toEqual({ removed: 1 })
  })

  test('removing a log of an earlier page is an error', () => {
    const page = pageOf([...placed([{ ...MINT, removed: true }], 5)], { from: 5, next: 20 })
    expect(() => resultOf(ERC20, pageOf(placed([MINT], 5), { from: 0, next: 10 }), page)).toThrow(
      /log of block 5 was removed/,
    )
  })
})

describe('a rejected page changes nothing', () => {
  const good = placed([MINT])
  // With the keys in the order of the other log; otherwise the fast path would not read it.
  const bad = { block_number: 2, log_index: 0, ...transfer(ZERO, ANN, 5) }
  test.each([
    ['a block outside the page', { ...bad, block_number: 100 }],
    ['a topic that is not hex', { ...bad, topic1: `0x${'g'.repeat(64)}` }],
    ['a short topic', { ...bad, topic2: person(1) }],
    ['a gap among the topics', { ...bad, topic1: null }],
    ['data that is not hex', { ...bad, data: '0xzz' }],
    ['half a byte of data', { ...bad, data: '0x123' }],
    ['no index', { ...bad, log_index: -1 }],
  ])('%s', (_title, log) => {
    for (const path of PATHS) {
      const ledger = createLedger(ERC20)
      expect(() => ledger.applyPage(onPath(path, pageOf([...good, log])))).toThrow(QueryError)
      // The same blocks, fetched again.
      ledger.applyPage(onPath(path, pageOf(good)))
      const result = listed(ledger.result())
      expect(balancesOf(result)).toEqual({ [ANN]: 10n })
      expect(result.stats).toMatchObject({ pages: 1, logs: 1, applied: 1 })
    }
  })

  test('a block before the page', () => {
    const page = pageOf(placed([MINT], 4), { from: 5, next: 10 })
    expect(() => createLedger(ERC20).applyPage(page)).toThrow(/log of block 4 is in a page of the blocks 5 to 9/)
  })

  test('a gap between two pages', () => {
    const ledger = createLedger(ERC20)
    ledger.applyPage(pageOf(good, { from: 0, next: 10 }))
    expect(() => ledger.applyPage(pageOf([], { from: 11, next: 20 }))).toThrow(/10 to 10 are missing/)
  })
})

describe('the fast path', () => {
  const logs = placed([MINT, transfer(ANN, BOB, 1)])
  const plain = bodyOf(logs, 100).toString()
  const away = { block_number: 2, log_index: 0, ...transfer(ANN, BOB, 5), removed: true }
  const withRemoved = [...logs.map((log) => ({ ...log, removed: false })), away]
  const isFast = (body: string): boolean => {
    const page = pageOfBody(Buffer.from(body), { from: 0, next: 100 })
    const result = resultOf(ERC20, page)
    expect(balancesOf(result)).toEqual({ [ANN]: 9n, [BOB]: 1n })
    return result.stats.fastPages === 1
  }

  test('accepts any order of keys, several batches and other plain variations', () => {
    expect(isFast(plain)).toBe(true)
    expect(isFast(`${plain}\n`)).toBe(true)
    expect(isFast(JSON.stringify({ data: [{ logs }] }, undefined, 2))).toBe(true)
    const turned = logs.map((log) => Object.fromEntries(Object.entries(log).toReversed()))
    const [first, second] = turned
    const batches = [{ blocks: [{ number: 1, hash: '0x' }], logs: [first] }, {}, { logs: [] }, { logs: [second] }]
    expect(isFast(JSON.stringify({ total: -1.5e3, data: batches, guard: null, is: true }))).toBe(true)
    const withMore = logs.map((log) => ({
      transaction_hash: `0x${word(5)}`,
      ...log,
      removed: false,
    }))
    expect(isFast(JSON.stringify({ data: [{ logs: withMore }] }))).toBe(true)
    const withoutFlag = logs.map((log) => ({ ...log, removed: null }))
    expect(isFast(JSON.stringify({ data: [{ logs: withoutFlag }] }))).toBe(true)
  })

  test.each([
    ['a space in one log', plain.replace('"log_index":1', '"log_index": 1')],
    ['upper case', plain.replace(/ddf252/, 'DDF252')],
    ['removed logs', JSON.stringify({ data: [{ logs: withRemoved }] })],
    ['another order', JSON.stringify({ data: [{ logs: logs.toReversed() }] })],
  ])('leaves %s to the generic one', (_title, body) => {
    expect(body).not.toBe(plain)
    expect(isFast(body)).toBe(false)
  })
})

test('LEDGER_FIELDS are the fields that a ledger reads', () => {
  expect(Object.keys({ block_number: 0, log_index: 0, removed: false, ...handover(ANN, BOB, 1) }).toSorted()).toEqual(
    [...LEDGER_FIELDS].toSorted(),
  )
})
