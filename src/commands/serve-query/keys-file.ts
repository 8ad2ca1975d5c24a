import { SourceError } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { readSecretLines } from '../../sources/credential-file.ts'

/** What a header can carry, and nobody guesses. */
const KEY = /^[\x21-\x7e]{16,512}$/

/** The API keys: one a line; `#` begins a remark. Throws a SourceError that names the line and never what is on it. */
export const readApiKeys = async (file: string): Promise<readonly Secret[]> => {
  const refuse = (happened: string): SourceError =>
    new SourceError({
      doing: `read the API keys in ${file}`,
      happened,
      advice:
        'write a key a line, such as `openssl rand -hex 32` gives; a line that begins with # is a remark',
    })
  const lines = await readSecretLines(file, 'API keys')
  const keys = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return []
    if (KEY.test(line)) return [line]
    throw refuse(`line ${index + 1} is no key: 16 to 512 letters, digits and signs, without spaces`)
  })
  if (keys.length === 0) throw refuse('there is none')
  return [...new Set(keys)].map((key) => new Secret(key))
}
