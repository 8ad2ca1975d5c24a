import { SourceError } from '../core/errors.ts'
import { accountOf } from '../core/file-errors.ts'

/** Does it, and tells what could not be done in the operator's words. `doing`: "write /opt/x". */
export const telling = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw new SourceError({ doing, ...accountOf(error) }, { cause: error })
  }
}
