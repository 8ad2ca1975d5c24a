import type { z } from 'zod'
import { isMap, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { ConfigError, describeFileError, errorCode } from '../core/errors.ts'
import { readTextSync } from '../core/files.ts'
import { exceededLimit } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import { plainText } from '../core/redaction/redact.ts'

/** A parsed configuration file with line numbers. */
export type ConfigFile = ReturnType<typeof parseConfigFile>

/** Warnings, as on a key that is a list, would be written to stderr by Node.js: such a key is unknown and rejected anyway. */
const OPTIONS = { prettyErrors: false, logLevel: 'error' } as const

/** The value without negative zero, which is valid in YAML and fits no setting. */
const toPlain = (document: Document): unknown =>
  document.toJS({ reviver: (_, value: unknown) => (Object.is(value, -0) ? 0 : value) })

/** Parses YAML. Throws a ConfigError with file and line if it is invalid. */
export const parseConfigFile = (name: string, text: string) => {
  const { length, depth } = LIMITS.config
  if (text.length > length) throw new ConfigError(`${name}: expected at most ${length} characters, got ${text.length}`)
  if (isTooNested(text)) throw new ConfigError(`${name}: expected values within at most ${depth} others`)
  const lines = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines })
  const [problem] = document.errors
  if (problem) {
    const lineAt = (offset: number): number => lines.linePos(offset).line
    const reason = problemOf(document, problem, lineAt)
    throw new ConfigError(`${name}:${lineAt(problem.pos[0])}: ${plainText(reason, LIMITS.text.error)}`)
  }
  /** The line of a key, or of its nearest parent in the file. */
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

type Document = ReturnType<typeof parseDocument>

type Problem = Document['errors'][number]

/** Messages for frequent mistakes of operators; those of the library are for programmers. */
const problemOf = (document: Document, problem: Problem, lineAt: (offset: number) => number): string => {
  const {
    code,
    message,
    pos: [offset],
  } = problem
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here: remove the line `---`, and keep each key once'
  const duplicate = code === 'DUPLICATE_KEY' ? duplicateAt(document, offset) : undefined
  if (!duplicate) return `not YAML: ${message}`
  const { path, first } = duplicate
  return `${path}: this key is in the file twice, first in line ${lineAt(first)}: keep one, with the values of both`
}

/** The key that is at this offset for the second time, and the offset of the first. */
const duplicateAt = (document: Document, offset: number) => {
  const found: { readonly path: string; readonly first: number }[] = []
  visit(document, {
    Map: (_, { items }, ancestors) => {
      const names = items.flatMap(({ key }) =>
        isScalar(key) && key.range ? [{ name: String(key.value), at: key.range[0] }] : [],
      )
      const name = names.find(({ at }) => at === offset)?.name
      const first = names.find((key) => key.name === name)
      if (name === undefined || !first) return
      const parents = ancestors.flatMap((node) => (isPair(node) ? [String(node.key)] : []))
      found.push({ path: [...parents, name].join('.'), first: first.at })
    },
  })
  return found[0]
}

/** Aliases without an anchor, aliases that expand without limit, and aliases within their own anchor fail here. */
const toData = (name: string, document: Document): unknown => {
  let data: unknown
  try {
    data = toPlain(document) ?? {}
  } catch (error) {
    const reason = plainText(error instanceof Error ? error.message : String(error), LIMITS.text.error)
    throw new ConfigError(`${name}: not YAML: ${reason}`, { cause: error })
  }
  if (isNested(data)) throw new ConfigError(`${name}: expected values within at most ${LIMITS.config.depth} others`)
  return data
}

/**
 * Whether brackets, indentation or the indicators of one line (`- - - a`) may nest values more deeply than the limit. The
 * YAML parser is recursive: at the end of its stack Node.js may abort the process.
 */
const isTooNested = (text: string): boolean => {
  const { depth, indent } = LIMITS.config
  return (
    exceededLimit(Buffer.from(text), { depth, values: text.length }) !== undefined ||
    text.split(/[\n\r]/).some((line) => {
      const indicators = line.match(/[-?:](?=\s|$)/g)?.length ?? 0
      return indicators > depth || line.length - line.trimStart().length > indent
    })
  )
}

/** Whether values are nested more deeply than the limit. Ends for a value that contains itself. */
const isNested = (value: unknown, depth = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth > LIMITS.config.depth || Object.values(value).some((entry) => isNested(entry, depth + 1)))

/** The value of a flag or variable. A text that is not YAML stays a text: the schema reports what it expects. */
export const parseValue = (text: string): unknown => {
  if (text.length > LIMITS.config.valueLength || isTooNested(text)) return text
  try {
    const document = parseDocument(text, OPTIONS)
    const value: unknown = document.errors.length > 0 ? text : toPlain(document)
    return isNested(value) ? text : value
  } catch {
    return text
  }
}

/** The value at a path; undefined where it leads to nothing. */
export const valueAt = (tree: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (node, step) => (typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined),
    tree,
  )

/** The first problems, one on each line, without what a terminal would interpret. */
export const listProblems = (problems: readonly (() => string)[]): string => {
  const { problems: most } = LIMITS.config
  const lines = problems.slice(0, most).map((describe) => plainText(describe(), LIMITS.text.error))
  return [...lines, ...(problems.length > most ? [`${problems.length - most} more problems`] : [])].join('\n')
}

/** Reads a file that the configuration or the command line names. Throws a ConfigError if it cannot be read. */
export const readText = (place: string | URL, what: string): string => {
  try {
    return readTextSync(place, LIMITS.config.fileBytes)
  } catch (error) {
    const code = errorCode(error, String(error))
    const { problem, advice } = READ_PROBLEMS[code] ?? {
      problem: describeFileError(error).happened,
      advice: READABLE,
    }
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
}

/** The expectation for issues without a message in the schema. */
export const expectation: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return EXPECTED[issue.expected] ?? `expected ${issue.expected}`
  if (issue.code === 'invalid_value') return `expected one of ${issue.values.join(', ')}`
  return undefined
}

const EXPECTED: Readonly<Record<string, string>> = {
  array: 'expected a list',
  boolean: 'expected true or false',
  int: 'expected a whole number',
  number: 'expected a number',
  object: 'expected keys and values',
  record: 'expected keys and values',
  string: 'expected text',
}
