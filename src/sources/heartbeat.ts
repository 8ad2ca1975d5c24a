import { SourceError } from '../core/errors.ts'
import type { Ask, Answer } from './http.ts'
import { readSecretFile } from './secret-file.ts'

/** Sends a document to whoever listens for a sign of life. Throws a SourceError when nobody took it. */
export type SendHeartbeat = (document: unknown, signal: AbortSignal) => Promise<Answer>

interface Options {
  readonly ask: Ask
  /** The file with the address: an address of this kind is a secret. */
  readonly urlFile: string
  /** In milliseconds. */
  readonly timeout: number
}

export const createHeartbeat =
  ({ ask, urlFile, timeout }: Options): SendHeartbeat =>
  async (document, signal) => {
    const url = await readSecretFile(urlFile)
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      throw new SourceError({
        doing: `read the address in ${urlFile}`,
        happened: 'it is no http or https address',
        advice: 'write one address into it, and nothing else',
      })
    }
    return ask({
      url,
      init: { method: 'POST', body: JSON.stringify(document) },
      timeout,
      signal,
    })
  }
