import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openDuckDbStore } from '../../query/store/duckdb/store.ts'
import type { Block, Filter, LogStore } from '../../query/store/store.ts'
import { contract, EVERYTHING, walked, WHOLE, word } from '../support/store-cases.ts'

const BLOCKS = 24
const LOGS = 12_000
const CONTRACTS = 20

/** Log i of each block is of contract i mod 20, with topic i. */
const block = (number: number): Block => ({
  number,
  hash: word(1000 + number),
  parentHash: word(999 + number),
  timestamp: number,
  logCount: LOGS,
  logs: Array.from({ length: LOGS }, (_, logIndex) => ({
    logIndex,
    transactionIndex: 0,
    transactionHash: word(7),
    address: contract(logIndex % CONTRACTS),
    topics: [word(logIndex)],
    data: '0x',
  })),
})

const upTo = (count: number, value: (of: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, of) => value(of))

// Several row groups, each scanned by its own thread; rows joined with a table arrive in any order.
describe('rows from DuckDB are ordered', () => {
  let directory: string
  let store: LogStore
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'duckdb-order-'))
    const identity = { chainId: 143, scope: EVERYTHING }
    store = await openDuckDbStore(directory, { identity, clock: systemClock })
    for (let from = 0; from < BLOCKS; from += 8)
      await store.append(Array.from({ length: 8 }, (_, at) => block(from + at)))
  })
  afterAll(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  it.each<[string, readonly Filter[], (logIndex: number) => boolean]>([
    ['of one contract', [{ addresses: [contract(3)], topics: [] }], (index) => index % 20 === 3],
    ['of a list of 9,000 topics', [{ addresses: [], topics: [upTo(9000, word)] }], (index) => index < 9000],
    [
      'of two filters with a list of six each',
      [
        { addresses: upTo(6, contract), topics: [] },
        { addresses: [], topics: [upTo(6, (of) => word(100 + of))] },
      ],
      (index) => index % 20 < 6 || (index >= 100 && index < 106),
    ],
    [
      'of a hundred filters',
      Array.from({ length: 100 }, (_, each) => ({
        addresses: upTo(8, contract),
        topics: [upTo(40, (of) => word(40 * each + of))],
      })),
      (index) => index % 20 < 8 && index < 4000,
    ],
  ])('%s', async (_, filters, isWanted) => {
    const indexes = Array.from({ length: LOGS }, (__, index) => index).filter(isWanted)
    const fields = ['log_index'] as const
    const found = await walked(store, { ...WHOLE, filters, fields, maxLogs: 50_000 })
    const rows = found.blocks.map((number, at) => LOGS * number + Number(found.columns['log_index']?.[at]))
    const expected = Array.from({ length: BLOCKS }, (__, number) =>
      indexes.map((index) => LOGS * number + index),
    ).flat()
    // Hundreds of thousands: a picture of the difference would be of no use.
    expect(rows.length).toBe(expected.length)
    expect(rows.findIndex((row, at) => row !== expected[at])).toBe(-1)
  })
})
