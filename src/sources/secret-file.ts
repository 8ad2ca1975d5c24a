import { open } from 'node:fs/promises'
import { SourceError } from '../core/errors.ts'
import { accountOf } from '../core/file-errors.ts'

const MAX_BYTES = 8192

/** As many keys as anybody gives out. */
const MAX_BYTES_OF_KEYS = 1_000_000

/** There is such a file, and nothing in it. */
export class EmptySecretError extends SourceError {
  override name = 'EmptySecretError'
}

/** The one line that an operator keeps out of the configuration: read anew each time, so that it can be changed. */
export const readSecretFile = async (path: string, what = 'address'): Promise<string> =>
  (await read(path, what, MAX_BYTES)).trim()

/** The same for a file with several of them: its lines as they are, and what is on them is for the reader to judge. */
export const readSecretLines = async (path: string, what: string): Promise<readonly string[]> =>
  (await read(path, what, MAX_BYTES_OF_KEYS)).split('\n').map((line) => line.trim())

const read = async (path: string, what: string, most: number): Promise<string> => {
  const doing = `read the ${what} in ${path}`
  const advice = `write the ${what} into it, and let the agent's user alone read it (mode 0600)`
  const file = await open(path).catch((error: unknown) => {
    throw new SourceError({ doing, happened: accountOf(error).happened, advice }, { cause: error })
  })
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(most + 1))
    if (bytesRead > most) {
      throw new SourceError({ doing, happened: `it is longer than ${most} bytes`, advice })
    }
    const text = buffer.toString('utf8', 0, bytesRead)
    if (text.trim() === '') throw new EmptySecretError({ doing, happened: 'it is empty', advice })
    return text
  } finally {
    await file.close()
  }
}
