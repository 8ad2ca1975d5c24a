import { open } from 'node:fs/promises'
import { SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'

const MAX_BYTES = 8192

/** There is such a file, and nothing in it. */
export class EmptySecretError extends SourceError {
  override name = 'EmptySecretError'
}

/** The one line that an operator keeps out of the configuration: read anew each time, so that it can be changed. */
export const readSecretFile = async (path: string, what = 'address'): Promise<string> => {
  const doing = `read the ${what} in ${path}`
  const advice = `write the ${what} into it, and let the agent's user alone read it (mode 0600)`
  const file = await open(path).catch((error: unknown) => {
    throw new SourceError({ doing, happened: asError(error).message, advice }, { cause: error })
  })
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES))
    const text = buffer.toString('utf8', 0, bytesRead).trim()
    if (text === '') throw new EmptySecretError({ doing, happened: 'it is empty', advice })
    return text
  } finally {
    await file.close()
  }
}
