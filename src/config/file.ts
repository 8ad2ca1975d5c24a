import { readFileSync } from 'node:fs'
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { ConfigError, errorCode } from '../core/errors.ts'

/** A parsed configuration file with line numbers. */
export interface ConfigFile {
  readonly name: string
  readonly value: unknown
  /** The line of a key, or of its nearest parent in the file. */
  lineOf(path: readonly PropertyKey[]): number
}

/** Parses YAML. Throws a ConfigError with file and line if it is invalid. */
export const parseConfigFile = (name: string, text: string): ConfigFile => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [problem] = document.errors
  if (problem) {
    throw new ConfigError(`${name}:${lines.linePos(problem.pos[0]).line}: not YAML: ${problem.message}`)
  }
  const lineOf = (path: readonly PropertyKey[]): number => {
    const key = path.at(-1)
    if (key === undefined) return 1
    const parent: unknown = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      : undefined
    const node: unknown = pair ? pair.key : document.getIn([...path], true)
    const range = isScalar(node) || isMap(node) ? node.range : undefined
    return range ? lines.linePos(range[0]).line : lineOf(path.slice(0, -1))
  }
  return { name, value: toData(name, document), lineOf }
}

/** Aliases without an anchor, and aliases that expand without limit, fail here. */
const toData = (name: string, document: ReturnType<typeof parseDocument>): unknown => {
  try {
    return document.toJS() ?? {}
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`${name}: not YAML: ${reason}`, { cause: error })
  }
}

/** Reads a file that the configuration or the command line names. Throws a ConfigError if it cannot be read. */
export const readText = (place: string | URL, what: string): string => {
  try {
    return readFileSync(place, 'utf8')
  } catch (error) {
    const code = errorCode(error, String(error))
    const { problem, advice } = READ_PROBLEMS[code] ?? { problem: code, advice: READABLE }
    throw new ConfigError(`${String(place)}: ${what} cannot be read: ${problem}\n  what to do: ${advice}`)
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
