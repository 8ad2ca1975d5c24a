import { chmod, mkdir, mkdtemp, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeFileError, errorCode } from '../../../core/errors.ts'
import { StoreError } from '../errors.ts'
import type { StoreIdentity, WantedIdentity } from '../store.ts'
import { type EngineOptions, openEngine } from './engine.ts'
import { translateErrors } from './errors.ts'
import { createTables } from './schema.ts'

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
    await createDirectory(dirname(file))
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
    await createDirectory(directory)
    await rmdir(await mkdtemp(join(directory, '.writable-')))
  } catch (error) {
    throw new StoreError('unavailable', {
      doing: `create a store in ${directory}`,
      ...describeFileError(error),
      advice: 'use --store with a directory that is writable for the user of the service',
    })
  }
}

/** Not `recursive: true`: Node 20 retries forever on a file system that cannot create directories, such as /proc. */
const createDirectory = async (directory: string): Promise<void> => {
  const parent = dirname(directory)
  if (parent !== directory && !(await exists(parent))) await createDirectory(parent)
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

const exists = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'ENOENT') return false
      throw error
    },
  )

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
  const folder = await open(dirname(file))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const missingStore = (): StoreError =>
  new StoreError('empty', {
    doing: 'open the store',
    happened: 'it does not exist yet, and the chain id is unknown',
    advice: 'it is created once the node reports its chain id',
  })
