import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { StoreError } from '../errors.ts'
import type { Engine } from './engine.ts'
import { explained } from './explain.ts'

/** Those who read, each on a connection of its own and in one transaction: what it sees does not change meanwhile. */
export interface Readers {
  read<T>(
    doing: string,
    act: (connection: DuckDBConnection) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Lets nobody begin, and does it when those who read have ended, or when they take too long. */
  pause(act: () => Promise<void>): Promise<void>
  /** Sends them away. */
  close(): Promise<void>
}

/** A page takes 5 s at most. */
const PATIENCE_MS = 6 * second

export const createReaders = (engine: Engine, clock: Clock): Readers => {
  const connections = new Set<DuckDBConnection>()
  const visits = new Set<Promise<unknown>>()
  /** Resolves at the end of a pause. */
  let pause: Promise<void> | null = null
  let closed = false

  const visit = async <T>({ doing, act, signal }: Visit<T>): Promise<T> => {
    const connection = await explained(doing, () => engine.connect())
    const interrupt = (): void => connection.interrupt()
    connections.add(connection)
    signal?.addEventListener('abort', interrupt)
    try {
      if (closed || signal?.aborted === true) throw gone(doing)
      return await explained(doing, async () => {
        await connection.run('BEGIN TRANSACTION READ ONLY')
        return act(connection)
      })
    } finally {
      signal?.removeEventListener('abort', interrupt)
      connections.delete(connection)
      // An answer that nobody has read to its end lives until it is collected as garbage, and its transaction with it.
      await connection.run('ROLLBACK').catch(() => undefined)
      connection.closeSync()
    }
  }

  return {
    read: async (doing, act, signal) => {
      while (pause !== null) await pause
      if (closed)
        throw new StoreError('unavailable', { doing, happened: 'the store has been closed' })
      if (signal?.aborted === true) throw gone(doing)
      const visiting = visit({ doing, act, signal })
      const ended = visiting.catch(() => undefined)
      visits.add(ended)
      try {
        return await visiting
      } finally {
        visits.delete(ended)
      }
    },
    pause: async (act) => {
      while (pause !== null) await pause
      const over = new AbortController()
      const paused = (async (): Promise<void> => {
        await Promise.race([Promise.all(visits), clock.sleep(PATIENCE_MS, over.signal)])
        await act()
      })()
      pause = paused.catch(() => undefined)
      try {
        await paused
      } finally {
        pause = null
        over.abort()
      }
    },
    close: async () => {
      closed = true
      for (const connection of connections) connection.interrupt()
      await Promise.all(visits)
    },
  }
}

interface Visit<T> {
  readonly doing: string
  readonly act: (connection: DuckDBConnection) => Promise<T>
  readonly signal: AbortSignal | undefined
}

const gone = (doing: string): StoreError =>
  new StoreError('aborted', { doing, happened: 'the caller went' })
