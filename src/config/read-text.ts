import { readFileSync } from 'node:fs'
import { ConfigError } from '../core/errors.ts'

/** The text of a file that the configuration or the command line names. Throws a ConfigError if it cannot be read. */
export const readText = (place: string | URL, what: string): string => {
  try {
    return readFileSync(place, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const { problem, advice } = READ_PROBLEMS[code] ?? { problem: code, advice: READABLE }
    throw new ConfigError(
      `${String(place)}: ${what} cannot be read: ${problem}\n  what to do: ${advice}`,
    )
  }
}

const READABLE = 'name a YAML file that this user can read'

const READ_PROBLEMS: Readonly<Record<string, { problem: string; advice: string }>> = {
  ENOENT: { problem: 'there is no such file', advice: 'check the path' },
  EACCES: {
    problem: 'permission denied',
    advice:
      'run the command with sudo, or add this user to the group of the file (`ls -l` prints it; ' +
      '`sudo usermod --append --groups GROUP USER`, then log in again)',
  },
  EISDIR: { problem: 'it is a directory', advice: READABLE },
}
