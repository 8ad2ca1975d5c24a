import type { DuckDBConnection } from '@duckdb/node-api'
import type { BlockHeader } from '../store.ts'
import { rowsOf } from './rows.ts'

/** So many numbers are looked for at a time. */
const BATCH = 10_000

/** Those of these blocks that are held, in order of number. */
export const readHeads = async (
  connection: DuckDBConnection,
  numbers: readonly number[],
): Promise<readonly BlockHeader[]> => {
  const wanted = [...new Set(numbers)]
    .filter((number) => Number.isSafeInteger(number))
    .toSorted((one, other) => one - other)
  const heads: BlockHeader[] = []
  for (let at = 0; at < wanted.length; at += BATCH)
    heads.push(...(await readBatch(connection, wanted.slice(at, at + BATCH))))
  return heads
}

const readBatch = async (
  connection: DuckDBConnection,
  wanted: readonly number[],
): Promise<readonly BlockHeader[]> => {
  const [first = 0, last = first] = [wanted[0], wanted.at(-1)]
  // Where they lie close together all of them are read, which costs less than to look for each.
  const close = last - first < 4 * wanted.length
  const rows = await rowsOf(
    connection,
    `SELECT number, hash, parent_hash, timestamp FROM blocks
      WHERE number BETWEEN ${first} AND ${last}${close ? '' : ` AND number IN (${wanted.join(', ')})`}
      ORDER BY number`,
  )
  const set = new Set(wanted)
  return rows
    .map(([number, hash, parentHash, timestamp]) => ({
      number: Number(number),
      hash: String(hash),
      parentHash: String(parentHash),
      timestamp: Number(timestamp),
    }))
    .filter(({ number }) => set.has(number))
}
