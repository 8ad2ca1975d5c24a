import { stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import pLimit from 'p-limit'
import { type Clock, endsWithin } from '../../../src/core/clock.ts'
import { asError } from '../../../src/core/errors.ts'
import { second } from '../../../src/core/units.ts'
import { expectContinuation, rangeOf } from '../checks.ts'
import { StoreError } from '../errors.ts'
import type { LogStore, StoreSize, WantedIdentity } from '../store.ts'
import { checkIdentity, ensureDatabase, expectConsistent, readContents, type StoreContents } from './database.ts'
import {
  type Engine,
  EngineFailedError,
  type EngineOptions,
  openEngine,
  queryRows,
  toStoreError,
  translateErrors,
} from './engine.ts'
import { readHeads, readLogs } from './read.ts'
import { appendBlocks, pruneBatch, replaceBlocks } from './write.ts'

const MEBIBYTE = 2 ** 20

/** Defaults for a host that also runs a node. */
const ENGINE: EngineOptions = { memory: 512 * MEBIBYTE, threads: 2, temporary: 4096 * MEBIBYTE }

interface DuckDbStoreOptions extends Partial<EngineOptions> {
  readonly identity: WantedIdentity
  readonly clock: Clock
}

/** Opens or creates a store in a local directory. Only one process can open it. Throws a StoreError. */
export const openDuckDbStore = async (directory: string, options: DuckDbStoreOptions): Promise<LogStore> => {
  const open = async (): Promise<LogStore> => openOnce(directory, options)
  return createReopeningStore(await open(), open, options.clock)
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
    replace: async ([first, ...others]) => {
      if (first === undefined) return
      await writer.change(`replace block ${first.number} in the store`, async (before) => {
        if (before === null) throw emptyStore()
        return replaceBlocks(engine.duckdb, writer.connection, { contents: before, blocks: [first, ...others] })
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

const emptyStore = (): StoreError =>
  new StoreError('conflict', { doing: 'replace blocks in the store', happened: 'it has no blocks yet' })

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

/** In milliseconds. Each attempt to open reads the write-ahead log again, so failed attempts are spaced. */
const RETRY_EVERY_MS = 5 * second

/** Opens the store again after a fatal engine error, so that a full disk does not require a restart of the service. */
const createReopeningStore = (first: LogStore, open: () => Promise<LogStore>, clock: Clock): LogStore => {
  let opened: Promise<LogStore> = Promise.resolve(first)
  let failedAt: number | null = null
  let isClosed = false

  /** Opens the store after `closed` resolves: two engine instances on one file in one process do not see each other. */
  const reopen = (closed: Promise<void>): void => {
    failedAt = null
    opened = closed.then(open).catch((error: unknown) => {
      failedAt = clock.elapsed()
      throw error
    })
    // The next operation receives this error.
    opened.catch(() => undefined)
  }
  const use = async <T>(act: (store: LogStore) => Promise<T>): Promise<T> => {
    if (failedAt !== null && clock.elapsed() - failedAt >= RETRY_EVERY_MS && !isClosed) reopen(Promise.resolve())
    const current = opened
    const store = await current
    try {
      return await act(store)
    } catch (error) {
      if (error instanceof EngineFailedError && opened === current && !isClosed) reopen(store.close())
      throw error
    }
  }
  return {
    chainId: first.chainId,
    range: () => use((store) => store.range()),
    append: (blocks) => use((store) => store.append(blocks)),
    replace: (blocks) => use((store) => store.replace(blocks)),
    read: (selection, signal) => use((store) => store.read(selection, signal)),
    heads: (numbers) => use((store) => store.heads(numbers)),
    prune: (firstKept) => use((store) => store.prune(firstKept)),
    size: () => use((store) => store.size()),
    close: async () => {
      isClosed = true
      const last = await opened.catch(() => null)
      await last?.close()
    },
  }
}

type Read = <T>(doing: string, act: (connection: DuckDBConnection) => Promise<T>, signal?: AbortSignal) => Promise<T>

/** A page takes at most 5 s. */
const PAUSE_TIMEOUT_MS = 6 * second

/** Concurrent reads, each on its own connection and in one transaction with a consistent snapshot. */
const createReaders = (engine: Engine, clock: Clock) => {
  const connections = new Set<DuckDBConnection>()
  const activeReads = new Set<Promise<unknown>>()
  /** Resolves when the pause ends. */
  let pause: Promise<void> | null = null
  let closed = false

  const runRead: Read = async (doing, act, signal) => {
    const connection = await translateErrors(doing, () => engine.connect())
    const interrupt = (): void => connection.interrupt()
    connections.add(connection)
    signal?.addEventListener('abort', interrupt)
    try {
      if (closed || signal?.aborted === true) throw aborted(doing)
      return await translateErrors(doing, async () => {
        await connection.run('BEGIN TRANSACTION READ ONLY')
        return act(connection)
      })
    } finally {
      signal?.removeEventListener('abort', interrupt)
      connections.delete(connection)
      // An unread result keeps its transaction open until it is garbage collected.
      await connection.run('ROLLBACK').catch(() => undefined)
      connection.closeSync()
    }
  }

  const read: Read = async (doing, act, signal) => {
    while (pause !== null) await pause
    if (closed) throw new StoreError('unavailable', { doing, happened: 'the store is closed' })
    if (signal?.aborted === true) throw aborted(doing)
    const reading = runRead(doing, act, signal)
    const ended = reading.catch(() => undefined).finally(() => activeReads.delete(ended))
    activeReads.add(ended)
    return reading
  }

  return {
    read,
    /** Delays new reads and runs `act` once the current ones have ended, or after a timeout. */
    pause: async (act: () => Promise<void>): Promise<void> => {
      while (pause !== null) await pause
      const paused = endsWithin(clock, PAUSE_TIMEOUT_MS, Promise.all(activeReads)).then(act)
      pause = paused.catch(() => undefined)
      try {
        await paused
      } finally {
        pause = null
      }
    },
    /** Interrupts all reads and waits for their end. */
    close: async (): Promise<void> => {
      closed = true
      for (const connection of connections) connection.interrupt()
      await Promise.all(activeReads)
    },
  }
}

const aborted = (doing: string): StoreError => new StoreError('aborted', { doing, happened: 'the read was aborted' })

/** Serializes changes to the store, each in a transaction. */
const createWriter = (connection: DuckDBConnection, initial: StoreContents | null) => {
  let contents = initial
  const oneAtATime = pLimit(1)
  return {
    /** Use it within a change only. */
    connection,
    /** The last committed contents. */
    contents: () => contents,
    /** `change` returns the new contents. If it throws, the transaction is rolled back. */
    change: (doing: string, change: (contents: StoreContents | null) => Promise<StoreContents | null>): Promise<void> =>
      oneAtATime(() =>
        translateErrors(doing, async () => {
          const now = await inTransaction(connection, () => change(contents))
          contents = now
        }),
      ),
    /** Writes the write-ahead log into the file and frees space, unless a reader blocks it. */
    checkpoint: (): Promise<void> =>
      oneAtATime(async () => {
        try {
          await connection.run('CHECKPOINT')
        } catch (error) {
          // A reader blocks the checkpoint; the next checkpoint will free the space.
          if (!/Cannot CHECKPOINT/.test(asError(error).message))
            throw toStoreError('checkpoint the store', asError(error))
        }
      }),
    /** Waits for the current change. */
    close: (): Promise<void> =>
      oneAtATime(async () => {
        await connection.run('CHECKPOINT').catch(() => undefined)
        connection.closeSync()
      }),
  }
}

const inTransaction = async <T>(connection: DuckDBConnection, act: () => Promise<T>): Promise<T> => {
  await connection.run('BEGIN')
  try {
    const outcome = await act()
    await connection.run('COMMIT')
    return outcome
  } catch (error) {
    // The rollback fails if the engine has already ended the transaction.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}
