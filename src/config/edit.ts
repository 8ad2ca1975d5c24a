import { isDeepStrictEqual } from 'node:util'
import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { ConfigError } from '../core/errors.ts'

/** What a configuration file gets. */
export interface Addition {
  /** `node.publicKey` */
  readonly path: string
  /** A text replaces the present one. The entries of a list are added to the present ones. */
  readonly value: string | readonly unknown[]
}

/** A value on one line of YAML, as part of a list or not. */
export const inlineYaml = (value: string | object): string =>
  Array.isArray(value)
    ? `[${value.map((entry: unknown) => entryYaml(entry)).join(', ')}]`
    : stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()

/** In a list, more characters need quotes. */
const entryYaml = (entry: unknown): string =>
  stringify([entry], { collectionStyle: 'flow', lineWidth: 0 }).trim().slice(1, -1).trim()

/**
 * Adds settings to a valid configuration file. Every other byte stays: the library would write comments, quotes and
 * indentation in its own style. Throws a ConfigError where the file has a form that this does not know.
 */
export const addSettings = (name: string, text: string, additions: readonly Addition[]): string =>
  additions.reduce((before, addition) => {
    const edit = editFor(before, addition)
    const after = edit && `${before.slice(0, edit.from)}${edit.text}${before.slice(edit.to)}`
    const expected = withValue(dataOf(before), addition.path.split('.'), addition.value)
    if (after === undefined || !isDeepStrictEqual(dataOf(after), expected)) {
      const value = typeof addition.value === 'string' ? addition.value : `${addition.value.length} more`
      throw new ConfigError(
        `${name}: ${addition.path} is written in a form that cannot be extended: add ${value} by hand`,
      )
    }
    return after
  }, text)

/** A part of a text, and what replaces it. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

const parse = (text: string) => parseDocument(text, { prettyErrors: false, logLevel: 'error' })

const dataOf = (text: string): unknown => {
  const document = parse(text)
  // What could not be parsed equals nothing.
  return document.errors.length > 0 ? document.errors : document.toJS()
}

const withValue = (data: unknown, steps: readonly string[], value: Addition['value']): unknown => {
  const [step, ...rest] = steps
  if (step === undefined) return Array.isArray(data) && typeof value !== 'string' ? data.concat(value) : value
  const tree: Readonly<Record<string, unknown>> = typeof data === 'object' && data !== null ? { ...data } : {}
  return { ...tree, [step]: withValue(tree[step], rest, value) }
}

/** The value on one line, in the sections that do not exist yet. */
const nestedYaml = (steps: readonly string[], value: Addition['value']): string =>
  steps.reduceRight((inner, step) => `{ ${step}: ${inner} }`, inlineYaml(value))

const editFor = (text: string, { path, value }: Addition): Edit | undefined => {
  /** `key`: that of the section whose value the node is. */
  const within = (node: unknown, steps: readonly string[], key?: unknown): Edit | undefined => {
    const [step, ...rest] = steps
    if (isScalar(node) && (node.value === null || (step === undefined && typeof value === 'string'))) {
      const [from, to] = node.range ?? [0, 0]
      // The value of `key:` is empty, at the colon or before a comment.
      return {
        from,
        to,
        text: `${text[from - 1] === ':' ? ' ' : ''}${nestedYaml(steps, value)}${text[to] === '#' ? ' ' : ''}`,
      }
    }
    if (isMap(node) && step !== undefined) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === step)
      if (pair) return within(pair.value, rest, pair.key)
      if (node.flow) return addToFlow(node, nestedYaml(steps, value).slice(1, -1).trim())
      if (key === undefined) return append(text, blockYaml(steps, value))
      return addLines(text, key, blockYaml(steps, value, indentAt(text, node)))
    }
    if (!isSeq(node) || step !== undefined || typeof value === 'string') return undefined
    return node.flow
      ? addToFlow(node, inlineYaml(value).slice(1, -1))
      : addLines(text, node, entriesYaml(value, indentAt(text, node)))
  }
  const { contents } = parse(text)
  const steps = path.split('.')
  return contents === null ? append(text, blockYaml(steps, value)) : within(contents, steps)
}

/** Sections on lines of their own, a list of texts on one line. */
const blockYaml = ([step = '', ...rest]: readonly string[], value: Addition['value'], indent = ''): string => {
  const head = `${indent}${step}:`
  if (rest.length > 0) return `${head}\n${blockYaml(rest, value, `${indent}  `)}`
  const isLine = typeof value === 'string' || value.every((entry) => typeof entry === 'string')
  return isLine ? `${head} ${inlineYaml(value)}` : `${head}\n${entriesYaml(value, `${indent}  `)}`
}

const entriesYaml = (entries: readonly unknown[], indent: string): string =>
  entries.map((entry) => `${indent}- ${entryYaml(entry)}`).join('\n')

const append = (text: string, lines: string): Edit => {
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return { from: text.length, to: text.length, text: `${gap}${lines}\n` }
}

/** Before the bracket that ends it. */
const addToFlow = (node: YAMLMap | YAMLSeq, added: string): Edit | undefined => {
  const last = endOf(node.items.at(-1))
  const [from = 0] = node.range ?? []
  return last === undefined
    ? { from: from + 1, to: from + 1, text: isMap(node) ? ` ${added} ` : added }
    : { from: last, to: last, text: `, ${added}` }
}

/** Below the line in which the node ends. */
const addLines = (text: string, node: unknown, lines: string): Edit | undefined => {
  const end = endOf(node)
  if (end === undefined) return undefined
  const found = text.indexOf('\n', end)
  const from = found === -1 ? text.length : found
  return { from, to: from, text: `\n${lines}` }
}

/** Where the last text of a node ends: the range of a block includes the comments behind it. */
const endOf = (node: unknown): number | undefined => {
  if (isCollection(node) && !node.flow) return endOf(node.items.at(-1))
  if (isNode(node)) return node.range?.[1]
  return isPair(node) ? endOf(node.value ?? node.key) : undefined
}

const indentAt = (text: string, { range }: Pick<Node, 'range'>): string => {
  const [at = 0] = range ?? []
  return ' '.repeat(at - (text.lastIndexOf('\n', at - 1) + 1))
}
