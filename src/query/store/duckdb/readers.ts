import type { DuckDBConnection } from '@duckdb/node-api'
import { type Clock, endsWithin } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { StoreError } from '../errors.ts'
import type { Engine } from './engine.ts'
import { translateErrors } from './errors.ts'

/** Concurrent reads, each on its own connection and in one transaction with a consistent snapshot. */
export interface Readers {
  read<T>(doing: string, act: (connection: DuckDBConnection) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Delays new reads and runs `act` once the current ones have ended, or after a timeout. */
  pause(act: () => Promise<void>): Promise<void>
  /** Interrupts all reads and waits for their end. */
  close(): Promise<void>
}

/** A page takes at most 5 s. */
const PAUSE_TIMEOUT_MS = 6 * second

export const createReaders = (engine: Engine, clock: Clock): Readers => {
  const connections = new Set<DuckDBConnection>()
  const activeReads = new Set<Promise<unknown>>()
  /** Resolves when the pause ends. */
  let pause: Promise<void> | null = null
  let closed = false

  const runRead = async <T>({ doing, act, signal }: ReadTask<T>): Promise<T> => {
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

  return {
    read: async (doing, act, signal) => {
      while (pause !== null) await pause
      if (closed) throw new StoreError('unavailable', { doing, happened: 'the store is closed' })
      if (signal?.aborted === true) throw aborted(doing)
      const reading = runRead({ doing, act, signal })
      const ended = reading.catch(() => undefined)
      activeReads.add(ended)
      try {
        return await reading
      } finally {
        activeReads.delete(ended)
      }
    },
    pause: async (act) => {
      while (pause !== null) await pause
      const paused = (async (): Promise<void> => {
        await endsWithin(clock, PAUSE_TIMEOUT_MS, Promise.all(activeReads))
        await act()
      })()
      pause = paused.catch(() => undefined)
      try {
        await paused
      } finally {
        pause = null
      }
    },
    close: async () => {
      closed = true
      for (const connection of connections) connection.interrupt()
      await Promise.all(activeReads)
    },
  }
}

interface ReadTask<T> {
  readonly doing: string
  readonly act: (connection: DuckDBConnection) => Promise<T>
  readonly signal: AbortSignal | undefined
}

const aborted = (doing: string): StoreError => new StoreError('aborted', { doing, happened: 'the read was aborted' })
