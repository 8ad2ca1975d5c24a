import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type * as duckdbApi from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { asError } from '../../../src/core/errors.ts'
import { isDebianPackage, packageFile, version } from '../../../src/core/package.ts'
import { StoreError, type StoreErrorKind } from '../errors.ts'

export type DuckDb = typeof duckdbApi

export interface EngineOptions {
  /** Memory limit of the engine in bytes, without the rest of the process. */
  readonly memory: number
  readonly threads: number
  /** Limit for temporary files (sorting and joins), in bytes. */
  readonly temporary: number
}

/** Storage format version: readable by this and later versions of DuckDB. */
const STORAGE_VERSION = 'v1.5.0'
/** Size of the write-ahead log at which it is checkpointed. */
const CHECKPOINT_SIZE = '64MiB'

/** Where npm installed this package, it finds another one. */
const NPM = `npm install --global --prefix ${packageFile('../../..')} --ignore-scripts @duckdb/node-api@1.5.6-r.1`

/** Throws StoreError('missing') if DuckDB is not installed. */
export const loadEngine = async (): Promise<DuckDb> => {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new StoreError('missing', {
      doing: 'open the store',
      happened: 'its engine DuckDB is not installed, or not for this platform',
      evidence: String(error),
      advice: `${isDebianPackage ? `install chain-agent-query-service_${version}_amd64.deb` : NPM}, or use a ClickHouse store: --store clickhouse://…`,
    })
  }
}

/** An engine instance with one open database. */
export type Engine = Awaited<ReturnType<typeof openEngine>>

/** Opens a database, or creates it. The file is readable only by its owner. */
export const openEngine = async (file: string, options: EngineOptions) => {
  const duckdb = await loadEngine()
  const instance = await translateErrors('open the store', async () => {
    const opened = await duckdb.DuckDBInstance.create(file, settings(file, options))
    await chmod(file, 0o600)
    return opened
  })
  return {
    duckdb,
    file,
    connect: () => instance.connect(),
    /** All connections must be closed before. */
    close: () => instance.closeSync(),
  }
}

const settings = (file: string, { memory, threads, temporary }: EngineOptions) => ({
  memory_limit: `${Math.ceil(memory / 1024)}KiB`,
  threads: `${threads}`,
  temp_directory: join(dirname(file), 'temporary'),
  max_temp_directory_size: `${Math.ceil(temporary / 1024)}KiB`,
  checkpoint_threshold: CHECKPOINT_SIZE,
  storage_compatibility_version: STORAGE_VERSION,
  // Rows are returned in insertion order: by block and logIndex.
  preserve_insertion_order: 'true',
  // The engine needs this file only, no network and no other files.
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  lock_configuration: 'true',
})

/** Bytes as an SQL literal. The pattern prevents SQL injection. */
export const blobLiteral = (hex: string): string => {
  if (!/^0x(?:[0-9a-f]{2})*$/.test(hex))
    throw new StoreError('unavailable', {
      doing: 'query the store',
      happened: 'a value is not lower case hex',
      evidence: hex,
    })
  return `unhex('${hex.slice(2)}')`
}

/** An integer as an SQL literal. */
export const integerLiteral = (number: number): string => {
  if (!Number.isSafeInteger(number))
    throw new StoreError('unavailable', {
      doing: 'query the store',
      happened: 'a number is not an integer or is too large',
      evidence: `${number}`,
    })
  return `${number}`
}

type Value = string | number | null

/** Reads a small result: bytes as hex, integers as numbers, other values as null. */
export const queryRows = async (connection: DuckDBConnection, sql: string): Promise<readonly (readonly Value[])[]> => {
  const result = await connection.run(sql)
  return (await result.getRows()).map((row) => row.map(plain))
}

const plain = (value: unknown): Value => {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number' || typeof value === 'string') return value
  return hasBytes(value) ? `0x${Buffer.from(value.bytes).toString('hex')}` : null
}

const hasBytes = (value: unknown): value is { readonly bytes: Uint8Array } =>
  typeof value === 'object' && value !== null && 'bytes' in value && value.bytes instanceof Uint8Array

/** A fatal error of the engine: it rejects every operation until the file is opened again. */
export class EngineFailedError extends StoreError {}

const FATAL = /^FATAL Error/

/** Engine error messages and what they mean. The first match applies. */
const ERROR_RULES: readonly { pattern: RegExp; kind: StoreErrorKind; happened: string; advice?: string }[] = [
  {
    pattern: /Could not set lock on file/,
    kind: 'unavailable',
    happened: 'another process has opened it',
    advice: 'only one service can use a store: stop the other one, or use a separate --store',
  },
  { pattern: /^INTERRUPT Error/, kind: 'aborted', happened: 'the operation was aborted' },
  {
    pattern: /No space left on device|ENOSPC/,
    kind: 'unavailable',
    happened: 'the disk is full',
    advice: 'free disk space, or keep fewer blocks; indexing resumes by itself',
  },
  { pattern: /Out of Memory Error/, kind: 'unavailable', happened: 'the memory limit of the engine is too small' },
  {
    pattern: /Permission denied|EACCES|EPERM|Read-only file system|EROFS/,
    kind: 'unavailable',
    happened: 'permission denied',
    advice: 'the directory must be owned by the user of the service',
  },
  {
    pattern:
      /newer version|Serialization Error|not a valid DuckDB database|Could not read enough bytes|checksum|Corrupt|corrupt|^FATAL Error|^INTERNAL Error/,
    kind: 'broken',
    happened: 'the files on disk are unreadable',
    advice: 'restart the service; if the error returns, delete the store and index again from the node',
  },
]

/** Runs `act` and converts engine errors to StoreErrors. */
export const translateErrors = async <T>(doing: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    throw toStoreError(doing, asError(error))
  }
}

export const toStoreError = (doing: string, error: Error): StoreError => {
  if (error instanceof StoreError) return error
  const rule = ERROR_RULES.find(({ pattern }) => pattern.test(error.message))
  const Kind = FATAL.test(error.message) ? EngineFailedError : StoreError
  return new Kind(rule?.kind ?? 'unavailable', {
    doing,
    happened: rule?.happened ?? 'the engine returned an error',
    evidence: error.message,
    advice: rule?.advice,
  })
}
