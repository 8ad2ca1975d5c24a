import { SourceError } from '../../../core/errors.ts'
import { asError } from '../../../core/outcome.ts'
import { StoreError } from '../../store/errors.ts'
import { later, Refusal } from './refusal.ts'

const SOON = 5

/** What a client is told of a failure. What is not its own fault is complained about, and named no closer. */
export const refusalOf = (thrown: unknown, complain: (error: Error) => void): Refusal => {
  const error = asError(thrown)
  if (error instanceof Refusal) return error
  if (error instanceof StoreError) {
    if (error.kind === 'pruned') return pruned(error)
    if (error.kind === 'empty') return later('empty', 'no block is held yet', SOON)
    // The client went, or the deadline had passed: both are known already.
    if (error.kind !== 'aborted') complain(error)
    return later('unavailable', 'the logs can not be read at the moment', SOON)
  }
  complain(error)
  return error instanceof SourceError && error.timeout
    ? later('too_slow', 'the logs could not be read in time; ask for fewer', SOON)
    : new Refusal('internal', 'the answer could not be made')
}

const pruned = ({ first }: StoreError): Refusal =>
  new Refusal(
    'pruned',
    first === null
      ? 'blocks as old as from_block are not held'
      : `blocks before ${first} are not held`,
    { path: 'from_block', ...(first !== null && { first }) },
  )
