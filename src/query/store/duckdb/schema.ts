import type { DuckDBConnection } from '@duckdb/node-api'
import { expectIdentity, scopeText, type StoredIdentity } from '../checks.ts'
import { StoreError } from '../errors.ts'
import type { StoreIdentity, StoreRange, WantedIdentity } from '../store.ts'
import { blobLiteral, integerLiteral, queryRows } from './sql.ts'

const FORMAT = 1

const TABLES = `
  CREATE TABLE identity (format UINTEGER, chain_id BIGINT, scope VARCHAR);
  CREATE TABLE held (first BIGINT, last BIGINT, last_hash BLOB, logs BIGINT);
  CREATE TABLE blocks (number BIGINT, hash BLOB, parent_hash BLOB, timestamp BIGINT, log_count UINTEGER, kept UINTEGER);
  CREATE TABLE logs (
    block BIGINT, log_index UINTEGER, transaction_index UINTEGER, transaction_hash BLOB, address BLOB,
    topic_count UTINYINT, topic0 BLOB, topic1 BLOB, topic2 BLOB, topic3 BLOB, data BLOB
  );`

/** Creates the tables of an empty store. */
export const createTables = async (connection: DuckDBConnection, { chainId, scope }: StoreIdentity): Promise<void> => {
  await connection.run(TABLES)
  await connection.run('INSERT INTO identity VALUES ($1, $2, $3)', [FORMAT, BigInt(chainId), scopeText(scope)])
  await connection.run('CHECKPOINT')
}

/** Returns the chain id of the store. Throws StoreError('identity') if it is another store than expected. */
export const checkIdentity = async (connection: DuckDBConnection, wanted: WantedIdentity): Promise<number> => {
  const made = await readIdentity(connection)
  expectIdentity(wanted, made)
  return made.chainId
}

const readIdentity = async (connection: DuckDBConnection): Promise<StoredIdentity> => {
  const tables = await queryRows(connection, "SELECT 1 FROM duckdb_tables() WHERE table_name = 'identity'")
  if (tables.length === 0) throw inconsistent('its identity is missing')
  const [row] = await queryRows(connection, 'SELECT format, chain_id, scope FROM identity')
  const [format, chainId, scope] = row ?? []
  if (format !== FORMAT)
    throw new StoreError('identity', {
      doing: 'open the store',
      happened: 'it was created by an incompatible version of this program',
      advice: 'delete the store and index again from the node, or use that version',
    })
  if (typeof chainId !== 'number' || typeof scope !== 'string') throw inconsistent('its identity is missing')
  return { chainId, scope }
}

/** Checks that blocks, logs and the contents record agree. A damaged store is not served. */
export const expectConsistent = async (connection: DuckDBConnection, contents: StoreContents | null): Promise<void> => {
  const [row] = await queryRows(
    connection,
    `SELECT count(*), min(number), max(number), coalesce(sum(kept), 0)::BIGINT,
      (SELECT count(*) FROM logs), (SELECT min(block) FROM logs), (SELECT max(block) FROM logs) FROM blocks`,
  )
  const [blocks, first, last, kept, logs, firstLog, lastLog] = (row ?? []).map((value) =>
    typeof value === 'number' ? value : null,
  )
  const isConsistent =
    contents === null
      ? blocks === 0 && logs === 0
      : blocks === contents.last - contents.first + 1 &&
        first === contents.first &&
        last === contents.last &&
        kept === contents.logs &&
        logs === contents.logs &&
        (firstLog ?? contents.first) >= contents.first &&
        (lastLog ?? contents.last) <= contents.last
  if (!isConsistent) throw inconsistent('its blocks and logs are inconsistent')
}

/**
 * Range and number of logs of the store: one row, updated in the same transaction as the blocks; no row while the store
 * is empty.
 */
export interface StoreContents extends StoreRange {
  readonly logs: number
}

/** As seen by the transaction of this connection. */
export const readContents = async (connection: DuckDBConnection): Promise<StoreContents | null> => {
  const [row] = await queryRows(connection, 'SELECT first, last, last_hash, logs FROM held')
  if (row === undefined) return null
  const [first, last, lastHash, logs] = row
  if (typeof first !== 'number' || typeof last !== 'number' || typeof lastHash !== 'string' || typeof logs !== 'number')
    throw inconsistent('the record of its contents is invalid')
  return { first, last, lastHash, logs }
}

export const writeContents = async (connection: DuckDBConnection, contents: StoreContents): Promise<void> => {
  const { first, last, lastHash, logs } = contents
  const values = [integerLiteral(first), integerLiteral(last), blobLiteral(lastHash), integerLiteral(logs)]
  await connection.run('DELETE FROM held')
  await connection.run(`INSERT INTO held VALUES (${values.join(', ')})`)
}

const inconsistent = (happened: string): StoreError =>
  new StoreError('broken', {
    doing: 'open the store',
    happened,
    advice: 'delete the store and index again from the node',
  })
