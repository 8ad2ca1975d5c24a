import type { DuckDBConnection } from '@duckdb/node-api'
import { writeHeld, type Held } from './held.ts'
import { integerOf } from './literals.ts'
import { rowsOf } from './rows.ts'

/** At most so many logs or blocks are forgotten in one transaction: what it changes is held in memory until then. */
const LOGS = 500_000
const BLOCKS = 100_000

/** Forgets the oldest blocks, a part of those before `firstKept`, within a transaction that is open. Answers what is held then. */
export const pruneSome = async (
  connection: DuckDBConnection,
  held: Held,
  firstKept: number,
): Promise<Held> => {
  const end = Math.min(firstKept, held.last, held.first + BLOCKS)
  const oldest = await rowsOf(
    connection,
    `SELECT number, kept FROM blocks WHERE number < ${integerOf(end)} ORDER BY number`,
  )
  let logs = 0
  let first = held.first
  for (const [number, kept] of oldest) {
    if (logs >= LOGS) break
    logs += Number(kept)
    first = Number(number) + 1
  }
  await connection.run(`DELETE FROM logs WHERE block < ${integerOf(first)}`)
  await connection.run(`DELETE FROM blocks WHERE number < ${integerOf(first)}`)
  const now = { ...held, first, logs: held.logs - logs }
  await writeHeld(connection, now)
  return now
}
