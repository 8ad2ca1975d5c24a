import { chmod, mkdtemp, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { describeFileError, ifMissing } from '../../../src/core/errors.ts'
import { makeDirectory, syncFolder } from '../../../src/sources/durable.ts'
import { expectIdentity, scopeText, type StoredIdentity } from '../checks.ts'
import { missingStore, StoreError } from '../errors.ts'
import type { StoreIdentity, StoreRange, WantedIdentity } from '../store.ts'
import { blobLiteral, type EngineOptions, integerLiteral, openEngine, queryRows, translateErrors } from './engine.ts'

/**
 * Returns the path of the database, which is created if it does not exist. A new database is created under a temporary
 * name and renamed once it is complete, so that a killed process never leaves a broken store.
 */
export const ensureDatabase = async (
  directory: string,
  { chainId, scope }: WantedIdentity,
  options: EngineOptions,
): Promise<string> => {
  const file = databaseFile(directory)
  return translateErrors('open the store', async () => {
    if (await exists(file)) return file
    if (chainId === null) throw missingStore()
    await makeDirectory(dirname(file), 0o700)
    // An existing directory may be readable by others.
    await chmod(dirname(file), 0o700)
    await createDatabase(file, { chainId, scope }, options)
    return file
  })
}

const databaseFile = (directory: string): string => join(directory, 'duckdb', 'logs.duckdb')

/**
 * Throws a StoreError if a store can be neither opened nor created in this directory: the service checks this before it
 * reports that it is running. The store itself is created once the chain id is known.
 */
export const checkDirectory = async (directory: string): Promise<void> => {
  try {
    // An existing store may be on a full disk: it still answers queries.
    if (await exists(databaseFile(directory))) return
    await makeDirectory(directory, 0o700)
    await rmdir(await mkdtemp(join(directory, '.writable-')))
  } catch (error) {
    throw new StoreError('unavailable', {
      doing: `create a store in ${directory}`,
      ...describeFileError(error),
      advice: 'use --store with a directory that is writable for the user of the service',
    })
  }
}

const exists = (file: string): Promise<boolean> => stat(file).then(() => true, ifMissing(false))

const createDatabase = async (file: string, identity: StoreIdentity, options: EngineOptions): Promise<void> => {
  const temporaryFile = `${file}.new`
  for (const leftover of [temporaryFile, `${temporaryFile}.wal`, `${file}.wal`]) await rm(leftover, { force: true })
  const engine = await openEngine(temporaryFile, options)
  try {
    const connection = await engine.connect()
    try {
      await createTables(connection, identity)
    } finally {
      connection.closeSync()
    }
  } finally {
    engine.close()
  }
  await rename(temporaryFile, file)
  await syncFolder(dirname(file))
}

/** A program that knows only the first format would return the logs of replaced blocks out of order. */
const FORMAT = 1
const FORMAT_WITH_REPLACED = 2

const TABLES = `
  CREATE TABLE identity (format UINTEGER, chain_id BIGINT, scope VARCHAR);
  CREATE TABLE held (first BIGINT, last BIGINT, last_hash BLOB, logs BIGINT);
  CREATE TABLE blocks (number BIGINT, hash BLOB, parent_hash BLOB, timestamp BIGINT, log_count UINTEGER, kept UINTEGER);
  CREATE TABLE logs (
    block BIGINT, log_index UINTEGER, transaction_index UINTEGER, transaction_hash BLOB, address BLOB,
    topic_count UTINYINT, topic0 BLOB, topic1 BLOB, topic2 BLOB, topic3 BLOB, data BLOB
  );`

/**
 * Ranges of blocks that were replaced: their logs are after those of later blocks, so that a read must sort them. The
 * ranges do not overlap.
 */
const REPLACED = 'CREATE TABLE IF NOT EXISTS replaced (first BIGINT, last BIGINT)'

/** Creates the tables of an empty store. */
const createTables = async (connection: DuckDBConnection, { chainId, scope }: StoreIdentity): Promise<void> => {
  await connection.run(TABLES)
  await connection.run(REPLACED)
  await connection.run('INSERT INTO identity VALUES ($1, $2, $3)', [FORMAT, BigInt(chainId), scopeText(scope)])
  await connection.run('CHECKPOINT')
}

/** Returns the chain id of the store. Throws StoreError('identity') if it is another store than expected. */
export const checkIdentity = async (connection: DuckDBConnection, wanted: WantedIdentity): Promise<number> => {
  const made = await readIdentity(connection)
  expectIdentity(wanted, made)
  // A store of an earlier version has no such table.
  await connection.run(REPLACED)
  return made.chainId
}

const readIdentity = async (connection: DuckDBConnection): Promise<StoredIdentity> => {
  const tables = await queryRows(connection, "SELECT 1 FROM duckdb_tables() WHERE table_name = 'identity'")
  if (tables.length === 0) throw inconsistent('its identity is missing')
  const [row] = await queryRows(connection, 'SELECT format, chain_id, scope FROM identity')
  const [format, chainId, scope] = row ?? []
  if (format !== FORMAT && format !== FORMAT_WITH_REPLACED)
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

export interface BlockSpan {
  readonly first: number
  readonly last: number
}

/** Ordered, as seen by the transaction of this connection. */
export const readReplaced = async (connection: DuckDBConnection): Promise<readonly BlockSpan[]> => {
  const rows = await queryRows(connection, 'SELECT first, last FROM replaced ORDER BY first')
  return rows.map(([first, last]) => ({ first: Number(first), last: Number(last) }))
}

/** Adds a range to those that were replaced, and drops those before the first block. */
export const addReplaced = async (
  connection: DuckDBConnection,
  { first, last }: BlockSpan,
  firstStored: number,
): Promise<void> => {
  const before = await readReplaced(connection)
  // Adjacent ranges become one, so that their number stays small.
  const touching = before.filter((span) => span.first <= last + 1 && span.last >= first - 1)
  const others = before.filter((span) => !touching.includes(span) && span.last >= firstStored)
  const merged = {
    first: Math.min(first, ...touching.map((span) => span.first)),
    last: Math.max(last, ...touching.map((span) => span.last)),
  }
  const rows = [...others, merged].map((span) => `(${integerLiteral(span.first)}, ${integerLiteral(span.last)})`)
  await connection.run('DELETE FROM replaced')
  await connection.run(`INSERT INTO replaced VALUES ${rows.join(', ')}`)
  await connection.run(`UPDATE identity SET format = ${FORMAT_WITH_REPLACED}`)
}

const inconsistent = (happened: string): StoreError =>
  new StoreError('broken', {
    doing: 'open the store',
    happened,
    advice: 'delete the store and index again from the node',
  })
