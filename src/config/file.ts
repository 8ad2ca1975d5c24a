import type { z } from 'zod'
import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { ConfigError, describeFileError, errorCode } from '../core/errors.ts'
import { readTextSync } from '../core/files.ts'
import { exceededLimit, isObject } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import { plainText } from '../core/redaction/redact.ts'
import { closestMatch } from '../core/suggest.ts'

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
  /** The line of a key, or of its nearest parent in the file. A key that YAML takes for a number is found by its text. */
  const lineOf = (path: readonly PropertyKey[]): number => {
    let node: unknown = document.contents
    let line = 1
    for (const step of path) {
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
        : undefined
      const next = pair ? pair.key : isSeq(node) ? node.items[Number(step)] : undefined
      if (!isNode(next) || !next.range) break
      line = lines.linePos(next.range[0]).line
      node = pair ? pair.value : next
    }
    return line
  }
  return { name, value: toData(name, document), lineOf }
}

type Document = ReturnType<typeof parseDocument>

type YamlProblem = Document['errors'][number]

/** Messages for frequent mistakes of operators; those of the library are for programmers. */
const problemOf = (document: Document, problem: YamlProblem, lineAt: (offset: number) => number): string => {
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

/** The sections of a file. One whose keys are all commented out is null in YAML; it is treated as absent. */
export const sectionsOf = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null)) : value

/** A key with a similar name, or a few that are valid in its place. */
export const similarKey = (path: Path, candidates: readonly string[]): string => {
  const candidate = closestMatch(String(path.at(-1)), candidates)
  if (candidate !== undefined) return `; did you mean ${candidate}?`
  return candidates.length > 0 && candidates.length <= 12 ? `; there are: ${candidates.join(', ')}` : ''
}

/** The value at a path; undefined where it leads to nothing. */
export const valueAt = (tree: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (node, step) => (typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined),
    tree,
  )

type Path = readonly PropertyKey[]
type Problem = () => string
/** What follows an unknown key, or an expectation. */
type Supplement = (path: Path, isUnknown: boolean) => string

/** A key that is as long may be a secret in the wrong place. */
const shortened = (key: PropertyKey): string => {
  const text = String(key)
  return text.length > 40 ? `${text.slice(0, 20)}...` : text
}

/** What a schema rejects: position, key and expectation of each problem. */
export const describeIssues = (
  issues: readonly z.core.$ZodIssue[],
  where: (path: Path) => string,
  more: Supplement,
): readonly Problem[] =>
  issues.flatMap((issue): readonly Problem[] => {
    const { path } = issue
    if (issue.code === 'unrecognized_keys')
      return issue.keys
        .map((key) => [...path, key])
        .map((key) => () => `${where(key)}: no such key: ${key.join('.')}${more(key, true)}`)
    // zod reports an invalid key of a record with the message of the key's schema.
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
    return [
      () =>
        `${[where(path), ...(path.length > 0 ? [path.map(shortened).join('.')] : []), message].join(': ')}${more(path, false)}`,
    ]
  })

/** Parses the value of a file. Throws a ConfigError that lists the first problems, each with its line. */
export const parseWith = <T extends z.ZodType>(schema: T, file: ConfigFile, more: Supplement): z.output<T> => {
  const parsed = schema.safeParse(file.value, { error: expectation })
  if (parsed.success) return parsed.data
  throw problemsError(describeIssues(parsed.error.issues, (path) => `${file.name}:${file.lineOf(path)}`, more))
}

/** Lists the first problems, one on each line, without what a terminal would interpret. */
export const problemsError = (problems: readonly Problem[]): ConfigError => {
  const { problems: most } = LIMITS.config
  const lines = problems.slice(0, most).map((describe) => plainText(describe(), LIMITS.text.error))
  return new ConfigError(
    [...lines, ...(problems.length > most ? [`${problems.length - most} more problems`] : [])].join('\n'),
  )
}

/** Reads a file that the configuration or the command line names. Throws a ConfigError if it cannot be read. */
export const readText = (place: string | URL, what: string): string => {
  try {
    return readTextSync(place, LIMITS.config.fileBytes)
  } catch (error) {
    throw unreadable(place, what, error)
  }
}

export const unreadable = (place: string | URL, what: string, error: unknown): ConfigError => {
  const { happened, advice = 'name a YAML file that this user can read' } = describeFileError(error)
  const access = errorCode(error) === 'EACCES' ? ACCESS : advice
  return new ConfigError(`${String(place)}: ${what} cannot be read: ${happened}\n  what to do: ${access}`, {
    cause: error,
  })
}

const ACCESS =
  'run the command with sudo, or add this user to the group of the file (`ls -l` prints it; ' +
  '`sudo usermod --append --groups GROUP USER`, then log in again)'

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
