import { isDeepStrictEqual } from 'node:util'
import { Document, isMap, isScalar, isSeq, Lexer, parseDocument } from 'yaml'
import { ConfigError } from '../core/errors.ts'

/** What a configuration file gets. */
export interface Addition {
  /** `node.publicKey` */
  readonly path: string
  /** A text replaces the present one. The entries of a list are added to the present ones. */
  readonly value: string | readonly unknown[]
}

/**
 * Adds settings to a valid configuration file. Values and comments stay, in their order; the library may change
 * indentation, blanks and repeated empty lines. Throws a ConfigError where the file has a form that cannot be extended.
 */
export const addSettings = (name: string, text: string, additions: readonly Addition[]): string => {
  if (additions.length === 0) return text
  const parsed = parse(text)
  const document = parsed.contents === null ? new Document({}) : parsed
  const isAdded = additions.every((addition) => add(document, document.contents, addition))
  const before = document === parsed || text === '' ? '' : `${text.trimEnd()}\n\n`
  const lines = `${before}${document.toString({ lineWidth: 0 })}`
  const after = text.includes('\r\n') ? lines.replaceAll(/\r?\n/g, '\r\n') : lines
  const isKept = isDeepStrictEqual([parse(after).toJS(), commentsIn(after)], [document.toJS(), commentsIn(text)])
  if (isAdded && isKept) return after
  const paths = additions.map(({ path }) => path).join(', ')
  throw new ConfigError(`${name}: it is written in a form that cannot be extended: add ${paths} by hand`)
}

/** Adds a value below a section. False if a part of the path is neither a section nor empty, such as an alias. */
const add = (document: Document, section: unknown, { path, value }: Addition): boolean => {
  const [step = '', ...rest] = path.split('.')
  if (!isMap(section)) return false
  const pair = section.items.find(({ key }) => isScalar(key) && key.value === step)
  const node = pair?.value ?? null
  const isEmpty = node === null || (isScalar(node) && node.value === null)
  if (isMap(node) && rest.length > 0) return add(document, node, { path: rest.join('.'), value })
  if (rest.length === 0 && isScalar(node) && typeof value === 'string') node.value = value
  else if (rest.length === 0 && isSeq(node) && typeof value !== 'string')
    for (const entry of value) node.add(document.createNode(entry, { flow: true }))
  else if (isEmpty) {
    const isList = typeof value !== 'string'
    const data = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), isList ? [] : value)
    const created = document.createNode(data)
    if (isScalar(node)) created.commentBefore = node.comment ?? null
    const added = document.createPair(step, created)
    added.key.spaceBefore = section === document.contents && !section.flow && section.items.length > 0
    if (pair) pair.value = created
    else section.add(added)
    return !isList || add(document, section, { path, value })
  } else return false
  return true
}

const parse = (text: string) => parseDocument(text, { prettyErrors: false, logLevel: 'error' })

const commentsIn = (text: string): readonly string[] =>
  [...new Lexer().lex(text)].filter((token) => token.startsWith('#'))
