import { isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { ConfigError } from '../core/errors.ts'

/** A configuration file as data, and where each thing in it stands. */
export interface ConfigFile {
  readonly name: string
  readonly value: unknown
  /** The line of a key, or of the nearest thing around it that the file has. */
  lineOf(path: readonly PropertyKey[]): number
}

/** Reads YAML. Throws a ConfigError that names file and line when it is not YAML. */
export const parseConfigFile = (name: string, text: string): ConfigFile => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [problem] = document.errors
  if (problem) {
    throw new ConfigError(
      `${name}:${lines.linePos(problem.pos[0]).line}: not YAML: ${problem.message}`,
    )
  }
  const lineOf = (path: readonly PropertyKey[]): number => {
    const key = path.at(-1)
    if (key === undefined) return 1
    const parent: unknown =
      path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      : undefined
    const node: unknown = pair ? pair.key : document.getIn([...path], true)
    const range = isScalar(node) || isMap(node) ? node.range : undefined
    return range ? lines.linePos(range[0]).line : lineOf(path.slice(0, -1))
  }
  return { name, value: toData(name, document), lineOf }
}

/** An alias without its anchor, or one that grows without end, shows only here. */
const toData = (name: string, document: ReturnType<typeof parseDocument>): unknown => {
  try {
    return document.toJS() ?? {}
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`${name}: not YAML: ${reason}`, { cause: error })
  }
}
