import { expect } from 'vitest'
import { LOG_FIELDS } from '../../query/log-fields.ts'
import { StoreError } from '../../query/store/errors.ts'
import {
  type Block,
  type Filter,
  type LogPage,
  type LogStore,
  type Selection,
  type StoredLog,
  type StoreIdentity,
} from '../../query/store/store.ts'

/** The same numbers for the same seed: below `limit`, not negative. */
export type Dice = (limit: number) => number

/** mulberry32. */
export const diceOf = (seed: number): Dice => {
  let state = seed
  return (limit) => {
    state = (state + 0x6d_2b_79_f5) % 2 ** 32
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

export const oneOf = <T>(dice: Dice, choice: readonly [T, ...T[]]): T => choice[dice(choice.length)] ?? choice[0]

export const hexOf = (dice: Dice, bytes: number): string => {
  const buffer = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at += 1) buffer[at] = dice(256)
  return `0x${buffer.toString('hex')}`
}

/** 32 bytes with a readable meaning. */
export const word = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`

/** 20 bytes, the same. */
export const contract = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** Lengths about which engines care: none, short enough to lie inline, odd, a word, several. */
const LENGTHS = [0, 1, 4, 12, 13, 31, 32, 33, 96, 300] as const

interface Shape {
  readonly seed: number
  readonly from: number
  readonly blocks: number
  /** Most logs of a block. */
  readonly logs?: number
  readonly parentHash?: string
}

/** A chain of few contracts and few topics, so that filters find something and leave something. */
export const randomChain = ({ seed, from, blocks, logs = 12, parentHash = word(0) }: Shape): readonly Block[] => {
  const dice = diceOf(seed)
  const chain: Block[] = []
  for (let number = from; number < from + blocks; number += 1) {
    const kept = dice(4) === 0 ? [] : randomLogs(dice, dice(logs + 1))
    chain.push({
      number,
      hash: hexOf(dice, 32),
      parentHash: chain.at(-1)?.hash ?? parentHash,
      timestamp: 1_700_000_000 + Math.floor((number - from) / 2),
      logCount: (kept.at(-1)?.logIndex ?? -1) + 1 + dice(3),
      logs: kept,
    })
  }
  return chain
}

const randomLogs = (dice: Dice, count: number): readonly StoredLog[] => {
  const logs: StoredLog[] = []
  let transactionHash = hexOf(dice, 32)
  let transactionIndex = 0
  let logIndex = -1
  for (let each = 0; each < count; each += 1) {
    if (dice(3) === 0) {
      transactionHash = hexOf(dice, 32)
      transactionIndex += 1 + dice(3)
    }
    // Those in between are not kept.
    logIndex += 1 + dice(2)
    logs.push({
      logIndex,
      transactionIndex,
      transactionHash,
      address: contract(dice(6)),
      topics: Array.from({ length: dice(5) }, () => (dice(5) === 0 ? hexOf(dice, 32) : word(dice(5)))),
      data: hexOf(dice, oneOf(dice, LENGTHS)),
    })
  }
  return logs
}

/** Some that match much, some little, some nothing. */
export const randomFilter = (dice: Dice): Filter => ({
  addresses: Array.from({ length: oneOf(dice, [0, 0, 1, 2]) }, () => contract(dice(7))),
  topics: Array.from({ length: oneOf(dice, [0, 0, 1, 2, 4]) }, () =>
    Array.from({ length: oneOf(dice, [0, 1, 3]) }, () => word(dice(6))),
  ),
})

export const EVERYTHING = { addresses: [], topics: [] }

export const IDENTITY: StoreIdentity = { chainId: 143, scope: EVERYTHING }

export const WHOLE: Selection = {
  from: 0,
  to: 2 ** 52,
  filters: [EVERYTHING],
  fields: LOG_FIELDS,
  encoding: 'hex',
  maxLogs: 1e9,
  maxBytes: 1e12,
  maxMs: 1e9,
}

export const never = (): AbortSignal => new AbortController().signal

export const kindOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof StoreError ? error.kind : String(error)),
  )

export const columnsOf = ({ columns }: LogPage) => Object.fromEntries(columns)

/** All pages, one after another; each keeps within the limits and goes as far as they let it. */
export const walked = async (store: LogStore, selection: Selection) => {
  const blocks: number[] = []
  const columns: Record<string, (string | number | boolean | null)[]> = Object.fromEntries(
    selection.fields.map((field) => [field, []]),
  )
  let { from } = selection
  for (;;) {
    const found = await store.read({ ...selection, from }, never())
    const end = Math.max(from, Math.min(selection.to, found.range.last) + 1)
    expect([...found.columns.keys()].toSorted()).toEqual(selection.fields.toSorted())
    blocks.push(...found.blocks)
    for (const [field, column] of found.columns) {
      expect(column).toHaveLength(found.count)
      columns[field]?.push(...column)
    }
    if (found.next === end) return { blocks, columns, next: found.next }
    expect(found.next).toBeGreaterThan(from)
    expect(found.next).toBeLessThan(end)
    const sizes = sizesOf(found)
    const before = sizes.slice(0, found.blocks.indexOf(found.blocks.at(-1) ?? -1))
    expect(before.length).toBeLessThan(selection.maxLogs)
    const sum = (of: readonly number[]): number => of.reduce((total, size) => total + size, 0)
    expect(sum(before)).toBeLessThan(2 * selection.maxBytes)
    const reached =
      found.count >= selection.maxLogs ||
      sum(sizes) >= selection.maxBytes / 2 ||
      // No time: a block at a time is enough.
      selection.maxMs === 0
    expect(reached, 'a page ends because of a limit').toBe(true)
    from = found.next
  }
}

const sizesOf = ({ count, columns }: LogPage): readonly number[] =>
  Array.from({ length: count }, (_, row) =>
    [...columns.values()].reduce((sum, column) => sum + String(column[row] ?? '').length, 0),
  )
