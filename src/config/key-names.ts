import { ConfigError } from '../core/errors.ts'
import { type ConfigFile, parseConfigFile, readText } from './file.ts'

/** Names by secp public key, in lower case without `0x`. */
export type KeyNames = ReadonlyMap<string, string>

/** Reads the operator's file with names for keys. Throws a ConfigError that lists every error with its line. */
export const readNames = (file: string): KeyNames =>
  parseNames(parseConfigFile(file, readText(file, 'the file with names')))

/** The same for an option that may not be set. */
export const namesIn = (file: string | null): KeyNames => (file === null ? new Map<string, string>() : readNames(file))

const KEY = /^(?:0x)?(0[23][0-9a-f]{64})$/i
/** Printable characters on one line. */
const NAME = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,64}$/u

export const parseNames = ({ name: place, value, lineOf }: ConfigFile): KeyNames => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${place}:1: expected keys and names, one pair per line`)
  }
  const names = new Map<string, string>()
  const problems: string[] = []
  for (const [written, name] of Object.entries(value)) {
    const at = `${place}:${lineOf([written])}:`
    const key = KEY.exec(written)?.[1]?.toLowerCase()
    const shown = written.length > 24 ? `${written.slice(0, 20)}...` : written
    if (key === undefined) {
      problems.push(`${at} expected a secp public key, 66 hex digits between quotes, got ${shown}`)
    } else if (typeof name !== 'string' || !NAME.test(name.trim())) {
      problems.push(`${at} expected a name of 1 to 64 letters for ${shown}`)
    } else if (names.has(key)) {
      problems.push(`${at} the key ${shown} already has a name; remove one of the entries`)
    } else names.set(key, name.trim())
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return names
}
