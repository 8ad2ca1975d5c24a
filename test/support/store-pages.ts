import { expect } from 'vitest'
import { LOG_FIELDS } from '../../src/query/log-fields.ts'
import { StoreError } from '../../src/query/store/errors.ts'
import type { Found, LogStore, Selection, StoreIdentity } from '../../src/query/store/store.ts'

/** The store of a test that is running. */
export interface StoreBench {
  /** The one that is open now. */
  readonly store: () => LogStore
  /** What was written outlives a close. */
  readonly durable: boolean
  /** Closes it, and opens what lies there. */
  readonly reopen: (identity: StoreIdentity) => Promise<void>
  /** Closes it, and makes another in a place of its own. */
  readonly renew: (identity: StoreIdentity) => Promise<void>
}

export const EVERYTHING = { addresses: [], topics: [] }

export const IDENTITY: StoreIdentity = { chainId: 143, scope: EVERYTHING }

export const WHOLE: Selection = {
  from: 0,
  to: 2 ** 52,
  filters: [EVERYTHING],
  fields: LOG_FIELDS,
  maxLogs: 1e9,
  maxBytes: 1e12,
  maxMs: 1e9,
}

export const never = (): AbortSignal => new AbortController().signal

export const kindOf = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'no error',
    (error: unknown) => (error instanceof StoreError ? error.kind : String(error)),
  )

export const columnsOf = ({ columns }: Found) => Object.fromEntries(columns)

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

const sizesOf = ({ count, columns }: Found): readonly number[] =>
  Array.from({ length: count }, (_, row) =>
    [...columns.values()].reduce((sum, column) => sum + String(column[row] ?? '').length, 0),
  )
