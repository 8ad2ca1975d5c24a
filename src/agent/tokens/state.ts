import { ParseError, SourceError } from '../../core/errors.ts'
import type { BlockHash } from '../../query/client/types.ts'
import type { Ledger } from '../../tokens/types.ts'

/** How far the balances of a token have come. */
export interface State {
  ledger: Ledger
  next: number
  /** What was told of the block before: what comes next must stand on it. */
  last: BlockHash | null
  /** So many blocks are asked for in one turn. */
  most: number
  isRead: boolean
}

const UNREAD = { last: null, most: Infinity, isRead: false }

/** What was kept of a run. */
interface Kept {
  read(): Promise<
    | {
        readonly mark: { readonly next: number; readonly last: BlockHash | null }
        readonly payload: Uint8Array
      }
    | undefined
  >
}

interface Beginning {
  readonly checkpoint: Kept
  readonly create: () => Ledger
  readonly fromBlock: number
}

/** What another configuration has left, or a crash, is no failure: the history is read anew. */
export const begin = async ({ checkpoint, create, fromBlock }: Beginning): Promise<State> => {
  const ledger = create()
  const found = await readAny(checkpoint)
  try {
    if (found) {
      ledger.restore(found.payload)
      const { next, last } = found.mark
      return { ...UNREAD, ledger, next, last }
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
  }
  return { ...UNREAD, ledger: create(), next: fromBlock }
}

/** Readings go on without a place; of that directory the agent complains by itself. */
export const unlessUnwritable = async (write: () => Promise<void>): Promise<void> => {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
  }
}

const readAny = async (checkpoint: Kept) => {
  try {
    return await checkpoint.read()
  } catch (error) {
    if (error instanceof SourceError) return undefined
    throw error
  }
}
