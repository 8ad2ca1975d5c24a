import { SourceError, throwFileError } from '../core/errors.ts'
import { readText } from '../core/files.ts'

const MAX_BYTES = 8192

const MAX_BYTES_OF_KEYS = 1_000_000

/** The file exists and is empty. */
export class EmptySecretError extends SourceError {
  override name = 'EmptySecretError'
}

/**
 * Reads a credential that is kept out of the configuration, one line. Called for each use, so that the file can be
 * changed. Throws a SourceError.
 */
export const readSecretFile = async (path: string, what = 'address'): Promise<string> =>
  (await read(path, what, MAX_BYTES)).trim()

/** Reads the lines of a file with several credentials, trimmed. Throws a SourceError. */
export const readSecretLines = async (path: string, what: string): Promise<readonly string[]> =>
  (await read(path, what, MAX_BYTES_OF_KEYS)).split('\n').map((line) => line.trim())

const read = async (path: string, what: string, most: number): Promise<string> => {
  const doing = `read the ${what} in ${path}`
  const advice = `write the ${what} into it, readable only by the agent's user (mode 0600)`
  const text = await readText(path, most).catch(throwFileError({ doing, advice }))
  if (text.trim() === '') throw new EmptySecretError({ doing, happened: 'it is empty', advice })
  return text
}
