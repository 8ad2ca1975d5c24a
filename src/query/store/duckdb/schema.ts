import type { DuckDBConnection } from '@duckdb/node-api'
import { StoreError } from '../errors.ts'
import { expectIdentity, scopeText, type StoredIdentity } from '../checks.ts'
import type { StoreIdentity, WantedIdentity } from '../store.ts'
import { torn, type Held } from './held.ts'
import { rowsOf } from './rows.ts'

const FORMAT = 1

const TABLES = `
  CREATE TABLE identity (format UINTEGER, chain_id BIGINT, scope VARCHAR);
  CREATE TABLE held (first BIGINT, last BIGINT, last_hash BLOB, logs BIGINT);
  CREATE TABLE blocks (number BIGINT, hash BLOB, parent_hash BLOB, timestamp BIGINT, log_count UINTEGER, kept UINTEGER);
  CREATE TABLE logs (
    block BIGINT, log_index UINTEGER, transaction_index UINTEGER, transaction_hash BLOB, address BLOB,
    topic_count UTINYINT, topic0 BLOB, topic1 BLOB, topic2 BLOB, topic3 BLOB, data BLOB
  );`

/** Makes an empty store of a new database. */
export const makeTables = async (
  connection: DuckDBConnection,
  { chainId, scope }: StoreIdentity,
): Promise<void> => {
  await connection.run(TABLES)
  await connection.run('INSERT INTO identity VALUES ($1, $2, $3)', [
    FORMAT,
    BigInt(chainId),
    scopeText(scope),
  ])
  await connection.run('CHECKPOINT')
}

/** The chain that the store is for. */
export const ownIdentity = async (
  connection: DuckDBConnection,
  wanted: WantedIdentity,
): Promise<number> => {
  const made = await madeIdentity(connection)
  expectIdentity(wanted, made)
  return made.chainId
}

const madeIdentity = async (connection: DuckDBConnection): Promise<StoredIdentity> => {
  const tables = await rowsOf(
    connection,
    "SELECT 1 FROM duckdb_tables() WHERE table_name = 'identity'",
  )
  if (tables.length === 0) throw torn('its identity is gone')
  const [row] = await rowsOf(connection, 'SELECT format, chain_id, scope FROM identity')
  const [format, chainId, scope] = row ?? []
  if (format !== FORMAT)
    throw new StoreError('identity', {
      doing: 'open the store',
      happened: 'it was made by another version of this program',
      advice: 'remove it and fill it anew from the node, or take that version',
    })
  if (typeof chainId !== 'number' || typeof scope !== 'string') throw torn('its identity is gone')
  return { chainId, scope }
}

/** Blocks, their logs and what is told of them must agree: what does not has been damaged, and is not served. */
export const expectWhole = async (
  connection: DuckDBConnection,
  held: Held | null,
): Promise<void> => {
  const [row] = await rowsOf(
    connection,
    `SELECT count(*), min(number), max(number), coalesce(sum(kept), 0)::BIGINT,
      (SELECT count(*) FROM logs), (SELECT min(block) FROM logs), (SELECT max(block) FROM logs) FROM blocks`,
  )
  const [blocks, first, last, kept, logs, firstLog, lastLog] = (row ?? []).map((value) =>
    typeof value === 'number' ? value : null,
  )
  const whole =
    held === null
      ? blocks === 0 && logs === 0
      : blocks === held.last - held.first + 1 &&
        first === held.first &&
        last === held.last &&
        kept === held.logs &&
        logs === held.logs &&
        (firstLog ?? held.first) >= held.first &&
        (lastLog ?? held.last) <= held.last
  if (!whole) throw torn('its blocks and its logs do not agree')
}
