import { describe, expect, test } from 'vitest'
import { createLedger } from '../../../query/tokens/ledger.ts'
import type { LedgerOptions } from '../../../query/tokens/types.ts'
import {
  balancesOf,
  CONTRACT,
  listed,
  logOf,
  pageOf,
  person,
  placed,
  resultOf,
  TOPIC,
  transfer,
  type WireLog,
  withoutPaths,
  word,
  ZERO,
} from './pages.ts'

const [ANN, BOB] = [person(1), person(2)]
const ERC20: LedgerOptions = { standard: 'erc20', contract: CONTRACT, fullHistory: true }
const MINT = transfer(ZERO, ANN, 10)

describe('snapshots', () => {
  const pages = [
    pageOf(placed([MINT], 5), { from: 0, next: 10 }),
    pageOf(placed([transfer(ANN, BOB, 4), transfer(BOB, ANN, 5)], 15), { from: 10, next: 20 }),
  ] as const

  test('blocks before the snapshot are not applied again', () => {
    const first = createLedger(ERC20)
    first.applyPage(pages[0])
    const second = createLedger(ERC20)
    second.restore(first.snapshot())
    second.applyPage(pages[0])
    second.applyPage(pages[1])
    expect(balancesOf(listed(second.result()))).toEqual({ [ANN]: 11n, [BOB]: -1n })
    expect(withoutPaths(second.result()).stats.duplicate).toBe(1)
  })

  test('a snapshot may be a view of a larger buffer', () => {
    const first = createLedger(ERC20)
    first.applyPage(pages[0])
    const saved = first.snapshot()
    const pooled = Buffer.concat([Buffer.from('else'), saved]).subarray(4)
    const second = createLedger(ERC20)
    second.restore(pooled)
    expect(second.result()).toEqual(first.result())
  })

  const WRAPPED: LedgerOptions = { ...ERC20, profile: 'weth' }
  const deposit = logOf(TOPIC.deposit, [ANN], word(10))
  const unwrapped = [transfer(ANN, ZERO, 3), logOf(TOPIC.withdrawal, [ANN], word(3))]
  const mints = [transfer(ZERO, ANN, 11), transfer(ZERO, ANN, 12)]

  // Rare in the histories of agreement.test.ts, which compares all of the state after a snapshot.
  test.for<readonly [string, LedgerOptions, before: readonly WireLog[], after: readonly WireLog[]]>([
    ['amounts that may be ids', ERC20, mints, [transfer(ANN, BOB, 11)]],
    ['amounts that are not ids', ERC20, [MINT, MINT], mints],
    ['deposits with a Transfer', WRAPPED, [deposit, MINT], unwrapped],
    ['deposits without one', WRAPPED, [deposit], unwrapped],
  ])('a snapshot keeps what was found: %s', ([, options, before, after]) => {
    const first = pageOf(placed(before, 5), { from: 0, next: 10 })
    const last = pageOf(placed(after, 15), { from: 10, next: 20 })
    const [saved, restored] = [createLedger(options), createLedger(options)]
    saved.applyPage(first)
    restored.restore(saved.snapshot())
    restored.applyPage(last)
    expect(withoutPaths(restored.result())).toEqual(withoutPaths(resultOf(options, first, last)))
  })
})
