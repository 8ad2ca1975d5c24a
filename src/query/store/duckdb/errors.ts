import { asError } from '../../../core/errors.ts'
import { StoreError, type StoreErrorKind } from '../errors.ts'

interface ErrorRule {
  readonly pattern: RegExp
  readonly kind: StoreErrorKind
  readonly happened: string
  readonly advice?: string
}

/** A fatal error of the engine: it rejects every operation until the file is opened again. */
export class EngineFailedError extends StoreError {}

const FATAL = /^FATAL Error/

/** Engine error messages and what they mean. The first match applies. */
const ERROR_RULES: readonly ErrorRule[] = [
  {
    pattern: /Could not set lock on file/,
    kind: 'unavailable',
    happened: 'another process has opened it',
    advice: 'only one service can use a store: stop the other one, or use a separate --store',
  },
  { pattern: /^INTERRUPT Error/, kind: 'aborted', happened: 'the operation was aborted' },
  {
    pattern: /No space left on device|ENOSPC/,
    kind: 'unavailable',
    happened: 'the disk is full',
    advice: 'free disk space, or keep fewer blocks; indexing resumes by itself',
  },
  {
    pattern: /Out of Memory Error/,
    kind: 'unavailable',
    happened: 'the memory limit of the engine is too small',
  },
  {
    pattern: /Permission denied|EACCES|EPERM|Read-only file system|EROFS/,
    kind: 'unavailable',
    happened: 'permission denied',
    advice: 'the directory must be owned by the user of the service',
  },
  {
    pattern:
      /newer version|Serialization Error|not a valid DuckDB database|Could not read enough bytes|checksum|Corrupt|corrupt|^FATAL Error|^INTERNAL Error/,
    kind: 'broken',
    happened: 'the files on disk are unreadable',
    advice: 'restart the service; if the error returns, delete the store and index again from the node',
  },
]

/** Runs `act` and converts engine errors to StoreErrors. */
export const translateErrors = async <T>(doing: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    throw toStoreError(doing, asError(error))
  }
}

export const toStoreError = (doing: string, error: Error): StoreError => {
  if (error instanceof StoreError) return error
  const rule = ERROR_RULES.find(({ pattern }) => pattern.test(error.message))
  const Kind = FATAL.test(error.message) ? EngineFailedError : StoreError
  return new Kind(rule?.kind ?? 'unavailable', {
    doing,
    happened: rule?.happened ?? 'the engine returned an error',
    evidence: error.message,
    advice: rule?.advice,
  })
}
