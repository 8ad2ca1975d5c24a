import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type * as duckdbApi from '@duckdb/node-api'
import { StoreError } from '../errors.ts'
import { explained } from './explain.ts'

export type DuckDb = typeof duckdbApi

export interface EngineOptions {
  /** What it may hold in memory, in bytes; what the process needs beside it is not in this. */
  readonly memory: number
  readonly threads: number
  /** What it may put on the disk for sorting and the like, in bytes. */
  readonly temporary: number
}

/** The engine with one database open. */
export interface Engine {
  readonly duckdb: DuckDb
  readonly file: string
  connect(): Promise<duckdbApi.DuckDBConnection>
  /** Its connections have been closed before. */
  close(): void
}

/** A file written by this version is read by it and later ones. */
const STORAGE = 'v1.5.0'
/** So much of the log of changes, and it is worked into the file. */
const CHECKPOINT = '64MiB'

const loadEngine = async (): Promise<DuckDb> => {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new StoreError('missing', {
      doing: 'open the store',
      happened: 'its engine, DuckDB, is not installed, or not for this machine',
      evidence: String(error),
      advice:
        'npm install --global --ignore-scripts @duckdb/node-api@1.5.6-r.1, or a store in ClickHouse: --store clickhouse://…',
    })
  }
}

/** Opens a database, and makes it where there is none; only its owner can read it. */
export const openEngine = async (file: string, options: EngineOptions): Promise<Engine> => {
  const duckdb = await loadEngine()
  const instance = await explained('open the store', async () => {
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
  checkpoint_threshold: CHECKPOINT,
  storage_compatibility_version: STORAGE,
  // Rows come as they were added: by block and logIndex.
  preserve_insertion_order: 'true',
  // It reads and writes this file, and has no business with the network or other files.
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  lock_configuration: 'true',
})
