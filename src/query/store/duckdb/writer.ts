import type { DuckDBConnection } from '@duckdb/node-api'
import { asError } from '../../../core/errors.ts'
import { toStoreError, translateErrors } from './errors.ts'
import type { StoreContents } from './schema.ts'

/** Serializes changes to the store, each in a transaction. */
export interface Writer {
  /** Use it within a change only. */
  readonly connection: DuckDBConnection
  /** The last committed contents. */
  contents(): StoreContents | null
  /** `change` returns the new contents. If it throws, the transaction is rolled back. */
  change(doing: string, change: (contents: StoreContents | null) => Promise<StoreContents | null>): Promise<void>
  /** Writes the write-ahead log into the file and frees space, unless a reader blocks it. */
  checkpoint(): Promise<void>
  /** Waits for the current change. */
  close(): Promise<void>
}

export const createWriter = (connection: DuckDBConnection, initial: StoreContents | null): Writer => {
  let contents = initial
  let last: Promise<unknown> = Promise.resolve()
  /** Runs one operation after another, even if the previous one failed. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    connection,
    contents: () => contents,
    change: (doing, change) =>
      inTurn(() =>
        translateErrors(doing, async () => {
          const now = await inTransaction(connection, () => change(contents))
          contents = now
        }),
      ),
    checkpoint: () =>
      inTurn(async () => {
        try {
          await connection.run('CHECKPOINT')
        } catch (error) {
          // A reader blocks the checkpoint; the next checkpoint will free the space.
          if (!/Cannot CHECKPOINT/.test(asError(error).message))
            throw toStoreError('checkpoint the store', asError(error))
        }
      }),
    close: () =>
      inTurn(async () => {
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
