import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type * as duckdbApi from '@duckdb/node-api'
import { StoreError } from '../errors.ts'
import { translateErrors } from './errors.ts'

export type DuckDb = typeof duckdbApi

export interface EngineOptions {
  /** Memory limit of the engine in bytes, without the rest of the process. */
  readonly memory: number
  readonly threads: number
  /** Limit for temporary files (sorting and joins), in bytes. */
  readonly temporary: number
}

/** An engine instance with one open database. */
export interface Engine {
  readonly duckdb: DuckDb
  readonly file: string
  connect(): Promise<duckdbApi.DuckDBConnection>
  /** All connections must be closed before. */
  close(): void
}

/** Storage format version: readable by this and later versions of DuckDB. */
const STORAGE_VERSION = 'v1.5.0'
/** Size of the write-ahead log at which it is checkpointed. */
const CHECKPOINT_SIZE = '64MiB'

const loadEngine = async (): Promise<DuckDb> => {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new StoreError('missing', {
      doing: 'open the store',
      happened: 'its engine DuckDB is not installed, or not for this platform',
      evidence: String(error),
      advice:
        'npm install --global --ignore-scripts @duckdb/node-api@1.5.6-r.1, or use a ClickHouse store: --store clickhouse://…',
    })
  }
}

/** Opens a database, or creates it. The file is readable only by its owner. */
export const openEngine = async (file: string, options: EngineOptions): Promise<Engine> => {
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
