import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../core/clock.ts'
import { expectContinuation } from '../checks.ts'
import type { LogStore, StoreRange, WantedIdentity } from '../store.ts'
import { appendBlocks } from './append.ts'
import { openEngine, type Engine, type EngineOptions } from './engine.ts'
import { explained } from './explain.ts'
import { readHeads } from './heads.ts'
import { readHeld, type Held } from './held.ts'
import { placeOf } from './make.ts'
import { pruneSome } from './prune.ts'
import { readLogs } from './read.ts'
import { createReaders } from './readers.ts'
import { reopened } from './reopened.ts'
import { expectWhole, ownIdentity } from './schema.ts'
import { sizeOf } from './size.ts'
import { createWriter } from './writer.ts'

const MEBIBYTE = 2 ** 20

/** What suits the host of a node, which has other work. */
const ENGINE: EngineOptions = {
  memory: 512 * MEBIBYTE,
  threads: 2,
  temporary: 4096 * MEBIBYTE,
}

interface StoreOptions extends Partial<EngineOptions> {
  readonly identity: WantedIdentity
  readonly clock: Clock
}

/** A store in a folder of this machine; one process has it open. */
export const openDuckDbStore = async (
  directory: string,
  options: StoreOptions,
): Promise<LogStore> => {
  const open = async (): Promise<LogStore> => openOnce(directory, options)
  return reopened(await open(), { open, clock: options.clock })
}

const openOnce = async (
  directory: string,
  { identity, clock, ...engineOptions }: StoreOptions,
): Promise<LogStore> => {
  const settings = { ...ENGINE, ...engineOptions }
  const engine = await openEngine(await placeOf(directory, identity, settings), settings)
  return explained('open the store', async () => storeIn(engine, { identity, clock })).catch(
    (error: unknown) => {
      engine.close()
      throw error
    },
  )
}

const storeIn = async (engine: Engine, { identity, clock }: StoreOptions): Promise<LogStore> => {
  const connection = await engine.connect()
  const { chainId, held } = await opened(connection, identity).catch((error: unknown) => {
    connection.closeSync()
    throw error
  })
  const writer = createWriter(connection, held)
  const readers = createReaders(engine, clock)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await readers.close()
    await writer.close()
    engine.close()
  }
  return {
    chainId,
    range: () =>
      readers.read('ask what the store holds', async (reader) => rangeOf(await readHeld(reader))),
    append: async ([first, ...others]) => {
      if (first === undefined) return
      const blocks = [first, ...others] as const
      await writer.change(`add block ${first.number} to the store`, async (before) => {
        expectContinuation(before, blocks)
        return appendBlocks(engine.duckdb, writer.connection, { held: before, blocks })
      })
    },
    read: (selection, signal) =>
      readers.read(
        'read logs',
        (reader) =>
          readLogs({ duckdb: engine.duckdb, connection: reader, clock, signal }, selection),
        signal,
      ),
    heads: (numbers) => readers.read('read blocks', (reader) => readHeads(reader, numbers)),
    prune: async (firstKept) => {
      let pruned = false
      for (;;) {
        const before = writer.held()
        if (before === null || firstKept <= before.first || before.first === before.last) break
        await writer.change('forget old blocks', async (now) =>
          now === null ? null : pruneSome(writer.connection, now, firstKept),
        )
        pruned = true
      }
      // While somebody reads, the engine gives back nothing that he may see.
      if (pruned) await readers.pause(() => writer.checkpoint())
    },
    size: () => readers.read('measure the store', (reader) => sizeOf(reader, engine.file)),
    close: () => (closing ??= close()),
  }
}

const opened = async (connection: DuckDBConnection, identity: WantedIdentity) => {
  const chainId = await ownIdentity(connection, identity)
  const held = await readHeld(connection)
  await expectWhole(connection, held)
  return { chainId, held }
}

const rangeOf = (held: Held | null): StoreRange | null =>
  held === null ? null : { first: held.first, last: held.last, lastHash: held.lastHash }
