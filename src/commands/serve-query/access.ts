import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { createMemoizeLast } from '../../core/reload.ts'
import { Secret } from '../../core/secret.ts'
import type { Access } from '../../query/service/api/access-control.ts'
import { readSecretLines } from '../../sources/credential-file.ts'

/** Characters that an HTTP header can carry, and a length that prevents guessing. */
const KEY = /^[\x21-\x7e]{16,512}$/

/**
 * Reads API keys, one per line; lines with `#` are comments. Throws a SourceError that names the line but not its
 * content.
 */
export const readApiKeys = async (file: string): Promise<readonly Secret[]> => {
  const refuse = (happened: string): SourceError =>
    new SourceError({
      doing: `read the API keys in ${file}`,
      happened,
      advice:
        'write one key per line, for example the output of `openssl rand -hex 32`; lines that begin with # are comments',
    })
  const lines = await readSecretLines(file, 'API keys')
  const keys = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return []
    if (KEY.test(line)) return [line]
    throw refuse(`line ${index + 1} is not a valid key: use 16 to 512 printable ASCII characters without spaces`)
  })
  if (keys.length === 0) throw refuse('the file has no keys')
  return [...new Set(keys)].map((key) => new Secret(key))
}

/** Reads the API keys; returns the same object as long as keys and rate limit are unchanged. */
export const createReadAccess = () => {
  const accessFor = createMemoizeLast<Access>()
  return async ({
    apiKeysFile,
    rateLimit,
  }: Pick<Config['serveQuery'], 'apiKeysFile' | 'rateLimit'>): Promise<Access> => {
    const keys = apiKeysFile === null ? [] : await readApiKeys(apiKeysFile)
    const settings = [keys.map((key) => key.reveal()), rateLimit]
    return accessFor(settings, () => ({ keys, requestsPerMinute: rateLimit }))
  }
}
