import { chmod, mkdir, mkdtemp, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeFileError } from '../../../core/file-errors.ts'
import { StoreError } from '../errors.ts'
import type { StoreIdentity, WantedIdentity } from '../store.ts'
import { openEngine, type EngineOptions } from './engine.ts'
import { explained } from './explain.ts'
import { makeTables } from './schema.ts'

/**
 * Where the store lies, which is made where there is none. It is made beside its place and moved there once it is whole:
 * killed in between, there is none, and not one that nobody can open.
 */
export const placeOf = async (
  directory: string,
  { chainId, scope }: WantedIdentity,
  options: EngineOptions,
): Promise<string> => {
  const file = fileIn(directory)
  return explained('open the store', async () => {
    if (await isThere(file)) return file
    if (chainId === null) throw neverMade()
    await makeDirectory(dirname(file))
    // A folder that was there before may be open to others.
    await chmod(dirname(file), 0o700)
    await make(file, { chainId, scope }, options)
    return file
  })
}

const fileIn = (directory: string): string => join(directory, 'duckdb', 'logs.duckdb')

/**
 * Throws where a store can neither be opened nor made: before the service reports that it is up. The store
 * itself is made later, once the chain is known.
 */
export const checkDirectory = async (directory: string): Promise<void> => {
  try {
    // One that exists may be full: it still answers.
    if (await isThere(fileIn(directory))) return
    await makeDirectory(directory)
    await rmdir(await mkdtemp(join(directory, '.writable-')))
  } catch (error) {
    throw new StoreError('unavailable', {
      doing: `make a store in ${directory}`,
      ...describeFileError(error),
      advice: 'name a directory that the user of the service may write to with --store',
    })
  }
}

/** Not `recursive: true`: Node 20 retries for ever on a file system that makes no directories, such as /proc. */
const makeDirectory = async (directory: string): Promise<void> => {
  const parent = dirname(directory)
  if (parent !== directory && !(await isThere(parent))) await makeDirectory(parent)
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
}

const isThere = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
      throw error
    },
  )

const make = async (
  file: string,
  identity: StoreIdentity,
  options: EngineOptions,
): Promise<void> => {
  const fresh = `${file}.new`
  for (const remains of [fresh, `${fresh}.wal`, `${file}.wal`]) await rm(remains, { force: true })
  const engine = await openEngine(fresh, options)
  try {
    const connection = await engine.connect()
    try {
      await makeTables(connection, identity)
    } finally {
      connection.closeSync()
    }
  } finally {
    engine.close()
  }
  await rename(fresh, file)
  const folder = await open(dirname(file))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const neverMade = (): StoreError =>
  new StoreError('empty', {
    doing: 'open the store',
    happened: 'there is none yet, and the chain for which to make it is not known',
    advice: 'it is made once the node tells its chain id',
  })
