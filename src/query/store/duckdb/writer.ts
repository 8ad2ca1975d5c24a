import type { DuckDBConnection } from '@duckdb/node-api'
import { asError } from '../../../core/outcome.ts'
import { explain, explained } from './explain.ts'
import type { Held } from './held.ts'

/** The one that changes the store: one change at a time, each in a transaction. */
export interface Writer {
  /** To be used within a change alone. */
  readonly connection: DuckDBConnection
  /** What is held, as last written. */
  held(): Held | null
  /** `change` answers what is held after it. Nothing has changed where it throws. */
  change(doing: string, change: (held: Held | null) => Promise<Held | null>): Promise<void>
  /** Works what has been written into the file and gives back what is free, where no reader stands in the way. */
  checkpoint(): Promise<void>
  /** After what is under way. */
  close(): Promise<void>
}

export const createWriter = (connection: DuckDBConnection, atFirst: Held | null): Writer => {
  let held = atFirst
  let last: Promise<unknown> = Promise.resolve()
  /** One after another, whatever became of the one before. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    connection,
    held: () => held,
    change: (doing, change) =>
      inTurn(() =>
        explained(doing, async () => {
          const now = await inTransaction(connection, () => change(held))
          held = now
        }),
      ),
    checkpoint: () =>
      inTurn(async () => {
        try {
          await connection.run('CHECKPOINT')
        } catch (error) {
          // Who reads at this moment has a right to what is to be given back; the next one will do.
          if (!/Cannot CHECKPOINT/.test(asError(error).message))
            throw explain('work the changes into the file', asError(error))
        }
      }),
    close: () =>
      inTurn(async () => {
        await connection.run('CHECKPOINT').catch(() => undefined)
        connection.closeSync()
      }),
  }
}

const inTransaction = async <T>(
  connection: DuckDBConnection,
  act: () => Promise<T>,
): Promise<T> => {
  await connection.run('BEGIN')
  try {
    const outcome = await act()
    await connection.run('COMMIT')
    return outcome
  } catch (error) {
    // Where the engine has ended the transaction itself, there is none to take back.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}
