import { z } from 'zod'
import { type ConfigFile, parseConfigFile, parseWith, readText } from './file.ts'

/** Names by secp public key, in lower case without `0x`. */
export type KeyNames = ReadonlyMap<string, string>

/** Reads the operator's file with names for keys. Throws a ConfigError that lists every error with its line. */
export const readNames = (file: string): KeyNames =>
  parseNames(parseConfigFile(file, readText(file, 'the file with names')))

/** The same for an option that may not be set. */
export const namesIn = (file: string | null): KeyNames => (file === null ? new Map<string, string>() : readNames(file))

const KEY = /^(?:0x)?(0[23][0-9a-f]{64})$/i
const NAME = 'expected a name of 1 to 64 letters'

const table = z
  .record(
    z.string().regex(KEY, 'expected a secp public key, 66 hex digits between quotes'),
    // Printable characters on one line.
    z
      .string(NAME)
      .trim()
      .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,64}$/u, NAME),
    'expected keys and names, one pair per line',
  )
  .transform((entries, { issues }): KeyNames => {
    const names = new Map<string, string>()
    for (const [written, name] of Object.entries(entries)) {
      const key = KEY.exec(written)?.[1]?.toLowerCase() ?? written
      if (names.has(key))
        issues.push({ code: 'custom', path: [written], input: name, message: 'the key already has a name: remove one' })
      names.set(key, name)
    }
    return names
  })

export const parseNames = (file: ConfigFile): KeyNames => parseWith(table, file, () => '')
