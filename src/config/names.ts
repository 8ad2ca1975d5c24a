import { ConfigError } from '../core/errors.ts'
import { type ConfigFile, parseConfigFile } from './file.ts'
import { readText } from './read-text.ts'

/** Whose key is whose: secp public keys in lower case, without `0x`. */
export type KeyNames = ReadonlyMap<string, string>

/** The operator's file of names for keys. Throws a ConfigError that names every mistake with its line. */
export const readNames = (file: string): KeyNames =>
  parseNames(parseConfigFile(file, readText(file, 'the file of names')))

const KEY = /^(?:0x)?(0[23][0-9a-f]{64})$/i
/** What a terminal can show on one line. */
const NAME = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,64}$/u

export const parseNames = ({ name: place, value, lineOf }: ConfigFile): KeyNames => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${place}:1: expected keys and their names, a pair on a line`)
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
      problems.push(`${at} the key ${shown} has a name already; give it one`)
    } else names.set(key, name.trim())
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return names
}
