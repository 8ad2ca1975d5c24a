import { readFileSync } from 'node:fs'
import { ConfigError } from '../core/errors.ts'

/** The text of a file that the operator named. Throws a ConfigError where it cannot be read. */
export const readText = (place: string | URL, what: string): string => {
  try {
    return readFileSync(place, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new ConfigError(
      `${String(place)}: ${what} cannot be read: ${READ_PROBLEMS[code] ?? code}\n` +
        '  what to do: name a readable YAML file, or leave it out to use the defaults',
    )
  }
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
}
