import { stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../core/clock.ts'
import { expectContinuation } from '../checks.ts'
import type { LogStore, StoreRange, StoreSize, WantedIdentity } from '../store.ts'
import { ensureDatabase } from './create.ts'
import { type Engine, type EngineOptions, openEngine } from './engine.ts'
import { translateErrors } from './errors.ts'
import { readHeads, readLogs } from './read.ts'
import { createReaders } from './readers.ts'
import { createReopeningStore } from './reopen.ts'
import { checkIdentity, expectConsistent, readContents, type StoreContents } from './schema.ts'
import { queryRows } from './sql.ts'
import { appendBlocks, pruneBatch } from './write.ts'
import { createWriter } from './writer.ts'

const MEBIBYTE = 2 ** 20

/** Defaults for a host that also runs a node. */
const ENGINE: EngineOptions = {
  memory: 512 * MEBIBYTE,
  threads: 2,
  temporary: 4096 * MEBIBYTE,
}

interface DuckDbStoreOptions extends Partial<EngineOptions> {
  readonly identity: WantedIdentity
  readonly clock: Clock
}

/** Opens or creates a store in a local directory. Only one process can open it. Throws a StoreError. */
export const openDuckDbStore = async (directory: string, options: DuckDbStoreOptions): Promise<LogStore> => {
  const open = async (): Promise<LogStore> => openOnce(directory, options)
  return createReopeningStore(await open(), { open, clock: options.clock })
}

const openOnce = async (
  directory: string,
  { identity, clock, ...engineOptions }: DuckDbStoreOptions,
): Promise<LogStore> => {
  const settings = { ...ENGINE, ...engineOptions }
  const engine = await openEngine(await ensureDatabase(directory, identity, settings), settings)
  return translateErrors('open the store', async () => storeIn(engine, { identity, clock })).catch((error: unknown) => {
    engine.close()
    throw error
  })
}

const storeIn = async (engine: Engine, { identity, clock }: DuckDbStoreOptions): Promise<LogStore> => {
  const connection = await engine.connect()
  const { chainId, contents } = await readStore(connection, identity).catch((error: unknown) => {
    connection.closeSync()
    throw error
  })
  const writer = createWriter(connection, contents)
  const readers = createReaders(engine, clock)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await readers.close()
    await writer.close()
    engine.close()
  }
  return {
    chainId,
    range: () => readers.read('read the range of the store', async (reader) => rangeOf(await readContents(reader))),
    append: async ([first, ...others]) => {
      if (first === undefined) return
      const blocks = [first, ...others] as const
      await writer.change(`add block ${first.number} to the store`, async (before) => {
        expectContinuation(before, blocks)
        return appendBlocks(engine.duckdb, writer.connection, { contents: before, blocks })
      })
    },
    read: (selection, signal) =>
      readers.read(
        'read logs',
        (reader) => readLogs({ duckdb: engine.duckdb, connection: reader, clock, signal }, selection),
        signal,
      ),
    heads: (numbers) => readers.read('read blocks', (reader) => readHeads(reader, numbers)),
    prune: async (firstKept) => {
      let pruned = false
      for (;;) {
        const before = writer.contents()
        if (before === null || firstKept <= before.first || before.first === before.last) break
        await writer.change('delete old blocks', async (now) =>
          now === null ? null : pruneBatch(writer.connection, now, firstKept),
        )
        pruned = true
      }
      // The engine frees no space that an open transaction may still read.
      if (pruned) await readers.pause(() => writer.checkpoint())
    },
    size: () => readers.read('measure the store', (reader) => sizeOf(reader, engine.file)),
    close: () => (closing ??= close()),
  }
}

const readStore = async (connection: DuckDBConnection, identity: WantedIdentity) => {
  const chainId = await checkIdentity(connection, identity)
  const contents = await readContents(connection)
  await expectConsistent(connection, contents)
  return { chainId, contents }
}

const rangeOf = (contents: StoreContents | null): StoreRange | null =>
  contents === null ? null : { first: contents.first, last: contents.last, lastHash: contents.lastHash }

/** Bytes in use: free space within the file does not count, since it is reused. */
const sizeOf = async (connection: DuckDBConnection, file: string): Promise<StoreSize> => {
  const contents = await readContents(connection)
  const [row] = await queryRows(connection, 'SELECT block_size, used_blocks FROM pragma_database_size()')
  const [blockSize = 0, usedBlocks = 0] = (row ?? []).map(Number)
  const log = await stat(`${file}.wal`).then(
    ({ size }) => size,
    () => 0,
  )
  return {
    bytes: blockSize * usedBlocks + log,
    logs: contents?.logs ?? 0,
    blocks: contents === null ? 0 : contents.last - contents.first + 1,
  }
}
