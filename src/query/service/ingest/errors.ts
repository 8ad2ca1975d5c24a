import { SourceError } from '../../../core/errors.ts'
import { type IngestErrorKind } from './state.ts'

type Account = ConstructorParameters<typeof SourceError>[0]

/** A step of the ingest came to nothing, and is tried again later. */
export class IngestError extends SourceError {
  override name = 'IngestError'
  readonly kind: IngestErrorKind
  /** How long the node wants to be left alone, in milliseconds, where it said. */
  readonly wait: number | null
  constructor(kind: IngestErrorKind, account: Account, wait: number | null = null) {
    super(account)
    this.kind = kind
    this.wait = wait
  }
}

/** The node does not know the method, or what it was asked with; it would say so again. */
export class RefusedError extends IngestError {
  override name = 'RefusedError'
  /** In the words of the node. */
  readonly words: string
  constructor(account: Account, words: string) {
    super('refused', account)
    this.words = words
  }
}

/** Too much was asked for at a time: not a failure while less can be asked for. */
export class TooLargeError extends IngestError {
  override name = 'TooLargeError'
}

/** No answer came in time, which less at a time might. */
export class LateError extends IngestError {
  override name = 'LateError'
}

/** The ingest must not go on: what is held and what the node says cannot both be true. */
export class IngestEnded extends SourceError {
  override name = 'IngestEnded'
}
