import { SourceError } from '../../core/errors.ts'

/**
 * `pruned`, the blocks are no longer held; `empty`, none is yet; `conflict`, what was to be added does not follow on what is there;
 * `identity`, the store was made for something else; `missing`, its engine is not installed; `unavailable`, it may work again later;
 * `broken`, it will not; `aborted`, the caller went.
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

type Account = ConstructorParameters<typeof SourceError>[0]

/** The store could not do what was asked. Nothing in it shows a password. */
export class StoreError extends SourceError {
  override name = 'StoreError'
  readonly kind: StoreErrorKind
  /** With `pruned`: the first block that is held. */
  readonly first: number | null
  constructor(kind: StoreErrorKind, account: Account, first: number | null = null) {
    super(account)
    this.kind = kind
    this.first = first
  }
}
