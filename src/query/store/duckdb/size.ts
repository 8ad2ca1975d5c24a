import { stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreSize } from '../store.ts'
import { readHeld } from './held.ts'
import { rowsOf } from './rows.ts'

/** Bytes in use: what is free within the file is used again and does not count. */
export const sizeOf = async (connection: DuckDBConnection, file: string): Promise<StoreSize> => {
  const held = await readHeld(connection)
  const [row] = await rowsOf(
    connection,
    'SELECT block_size, used_blocks FROM pragma_database_size()',
  )
  const [blockSize = 0, usedBlocks = 0] = (row ?? []).map(Number)
  const log = await stat(`${file}.wal`).then(
    ({ size }) => size,
    () => 0,
  )
  return {
    bytes: blockSize * usedBlocks + log,
    logs: held?.logs ?? 0,
    blocks: held === null ? 0 : held.last - held.first + 1,
  }
}
