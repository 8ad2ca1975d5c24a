import { asError } from '../../../core/outcome.ts'
import { StoreError, type StoreErrorKind } from '../errors.ts'

interface Reason {
  readonly words: RegExp
  readonly kind: StoreErrorKind
  readonly happened: string
  readonly advice?: string
}

/** The engine has given up: whatever it is asked from now on it refuses, until its file is opened anew. */
export class EngineLost extends StoreError {}

const LOST = /^FATAL Error/

/** What the engine says, and what that means for us. The first that fits. */
const REASONS: readonly Reason[] = [
  {
    words: /Could not set lock on file/,
    kind: 'unavailable',
    happened: 'another process has it open',
    advice:
      'one service writes and reads a store: end the other, or give this one a place of its own',
  },
  { words: /^INTERRUPT Error/, kind: 'aborted', happened: 'the caller went' },
  {
    words: /No space left on device|ENOSPC/,
    kind: 'unavailable',
    happened: 'the disk is full',
    advice: 'make room, or keep fewer blocks; it goes on by itself',
  },
  {
    words: /Out of Memory Error/,
    kind: 'unavailable',
    happened: 'the memory that the engine may use is not enough',
  },
  {
    words: /Permission denied|EACCES|EPERM|Read-only file system|EROFS/,
    kind: 'unavailable',
    happened: 'its files are not ours to write',
    advice: 'the folder must belong to the user of the service',
  },
  {
    words:
      /newer version|Serialization Error|not a valid DuckDB database|Could not read enough bytes|checksum|Corrupt|corrupt|^FATAL Error|^INTERNAL Error/,
    kind: 'broken',
    happened: 'what lies on the disk cannot be read',
    advice:
      'start the service again; if this comes again, remove the store and fill it anew from the node',
  },
]

/** Does it, and tells of a failure of the engine in our words. */
export const explained = async <T>(doing: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    throw explain(doing, asError(error))
  }
}

export const explain = (doing: string, error: Error): StoreError => {
  if (error instanceof StoreError) return error
  const reason = REASONS.find(({ words }) => words.test(error.message))
  const Kind = LOST.test(error.message) ? EngineLost : StoreError
  return new Kind(reason?.kind ?? 'unavailable', {
    doing,
    happened: reason?.happened ?? 'the engine refused',
    evidence: error.message,
    advice: reason?.advice,
  })
}
