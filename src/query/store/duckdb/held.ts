import type { DuckDBConnection } from '@duckdb/node-api'
import { StoreError } from '../errors.ts'
import type { StoreRange } from '../store.ts'
import { blobOf, integerOf } from './literals.ts'
import { rowsOf } from './rows.ts'

/** What is held: one row, changed together with the blocks; none while the store is empty. */
export interface Held extends StoreRange {
  readonly logs: number
}

/** As this connection sees it. */
export const readHeld = async (connection: DuckDBConnection): Promise<Held | null> => {
  const [row] = await rowsOf(connection, 'SELECT first, last, last_hash, logs FROM held')
  if (row === undefined) return null
  const [first, last, lastHash, logs] = row
  if (
    typeof first !== 'number' ||
    typeof last !== 'number' ||
    typeof lastHash !== 'string' ||
    typeof logs !== 'number'
  )
    throw torn('what it holds is not told')
  return { first, last, lastHash, logs }
}

export const writeHeld = async (connection: DuckDBConnection, held: Held): Promise<void> => {
  const { first, last, lastHash, logs } = held
  const values = [integerOf(first), integerOf(last), blobOf(lastHash), integerOf(logs)]
  await connection.run('DELETE FROM held')
  await connection.run(`INSERT INTO held VALUES (${values.join(', ')})`)
}

export const torn = (happened: string): StoreError =>
  new StoreError('broken', {
    doing: 'open the store',
    happened,
    advice: 'remove it and fill it anew from the node',
  })
