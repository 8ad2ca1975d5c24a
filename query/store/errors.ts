import { type ErrorDetails, SourceError } from '../../src/core/errors.ts'

/**
 * `pruned`: the blocks have been deleted; `empty`: no block has been stored yet; `conflict`: the blocks do
 * not continue the stored ones; `identity`: the store has another chain or scope; `missing`: the database
 * engine is not installed; `unavailable`: a retry may succeed; `broken`: a retry fails as well; `aborted`:
 * the caller aborted.
 */
export type StoreErrorKind =
  | 'pruned'
  | 'empty'
  | 'conflict'
  | 'identity'
  | 'missing'
  | 'unavailable'
  | 'broken'
  | 'aborted'

/** A store operation failed. The error never contains a password. */
export class StoreError extends SourceError {
  override name = 'StoreError'
  readonly kind: StoreErrorKind
  /** With `pruned`: the first stored block. */
  readonly first: number | null
  constructor(kind: StoreErrorKind, account: ErrorDetails, first: number | null = null) {
    super(account)
    this.kind = kind
    this.first = first
  }
}

export const emptyStore = (): StoreError =>
  new StoreError('empty', { doing: 'read logs', happened: 'the store has no blocks yet' })

/** Without the chain id of the node no store is created. */
export const missingStore = (): StoreError =>
  new StoreError('empty', {
    doing: 'open the store',
    happened: 'it does not exist yet, and the chain id is unknown',
    advice: 'it is created once the node reports its chain id',
  })

export const prunedBlocks = (first: number): StoreError =>
  new StoreError('pruned', { doing: 'read logs', happened: `the first block in the store is ${first}` }, first)

export const abortedRead = (): StoreError =>
  new StoreError('aborted', { doing: 'read logs', happened: 'the read was aborted' })
