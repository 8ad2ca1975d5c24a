import type { SyntaxNode } from '@lezer/common'
import { childrenOf, compilePromql, parsePromql, partsOf, type WrittenMatcher } from '../promql/evaluate.ts'
import type { RecordingRule } from '../promql/rules.ts'
import { INTERVAL } from './render.ts'
import { day } from '../../core/units.ts'

interface Substituted {
  readonly expr: string
  /** The recordings that were substituted. */
  readonly substituted: readonly string[]
  /** Those of them with a range of a day or more: at each evaluation they would read all samples of the range. */
  readonly long: readonly string[]
}

/**
 * An expression in which the selectors of these recordings are replaced by the expressions that record them, for a
 * Prometheus that does not have the recorded series. Throws a PromqlError.
 */
export const substituteRecordings = (expression: string, recordings: readonly RecordingRule[]): Substituted => {
  const edits: Edit[] = []
  const used: Pick<Substituted, 'substituted' | 'long'>[] = []
  parsePromql(expression)
    .cursor()
    .iterate(({ node }) => {
      if (node.name !== 'VectorSelector') return
      const { name, matchers } = partsOf(node, expression)
      const rows = recordings.filter(({ record }) => record === name)
      if (name === undefined || rows.length === 0) return
      const inner = rows
        .filter((row) => matchers.every(({ label, matches }) => !isOwn(row, label) || matches(row.labels[label] ?? '')))
        .map((row) => {
          const result = substituteRecordings(row.expr, recordings)
          used.push(result)
          return recorded(result.expr, row, matchers)
        })
      if (inner.length === 0) return
      used.push({ substituted: [name], long: rows.some(({ expr }) => rangeOf(expr) >= day) ? [name] : [] })
      const text = inner.length === 1 ? (inner[0] ?? '') : `(${inner.join(' or ')})`
      const above = node.parent?.name ?? ''
      // A range in which two metrics have the same labels at different times is an error: a product has no name.
      const hasRange = ['MatrixSelector', 'SubqueryExpr'].includes(above)
      edits.push({ from: node.from, to: node.to, text: hasRange ? `(${text} * 1)` : text })
      const range = above === 'MatrixSelector' ? node.parent?.getChild('DurationExpr') : null
      if (range) edits.push({ from: range.to, to: range.to, text: `:${INTERVAL}` })
    })
  return {
    expr: edits.reduceRight((text, { from, to, text: by }) => text.slice(0, from) + by + text.slice(to), expression),
    substituted: [...new Set(used.flatMap(({ substituted }) => substituted))],
    long: [...new Set(used.flatMap(({ long }) => long))],
  }
}

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

const isOwn = ({ labels }: RecordingRule, label: string): boolean => Object.hasOwn(labels, label)

/** The longest range of an expression, in milliseconds. */
const rangeOf = (expr: string): number => Math.max(0, ...compilePromql(expr).reads.map(({ range }) => range))

/** The series of a recording with the labels that it adds; matchers on these are evaluated before. */
const recorded = (expr: string, row: RecordingRule, matchers: readonly WrittenMatcher[]): string => {
  const labelled = Object.entries(row.labels).reduce(
    (inner, [label, value]) => `label_replace(${inner}, "${label}", ${JSON.stringify(value)}, "", "")`,
    `(${expr})`,
  )
  return matchers.filter(({ label }) => !isOwn(row, label)).reduce(selected, labelled)
}

/** PromQL has no matchers for the result of an expression: elements whose label matches are marked, selected and unmarked. */
const selected = (inner: string, { label, operator, value }: WrittenMatcher): string => {
  const pattern = operator.endsWith('~') ? value : value.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  const marked = `label_replace(${inner}, "__m", "1", "${label}", ${JSON.stringify(pattern)})`
  const marks = 'label_replace(vector(1), "__m", "1", "", "")'
  return `label_replace(${marked} ${operator.startsWith('!') ? 'unless' : 'and'} on (__m) ${marks}, "__m", "", "", "")`
}

/**
 * The metrics without which an expression can return nothing, among those that are not in `names`; empty if it can return
 * something. Throws a PromqlError.
 */
export const missingMetrics = (expression: string, names: ReadonlySet<string>): readonly string[] => {
  const missingIn = (node: SyntaxNode): readonly string[] => {
    if (node.name === 'VectorSelector') return missingOf(node)
    if (node.name === 'FunctionCall' && expression.startsWith('absent', node.from)) return []
    if (node.name === 'BinaryExpr' && node.firstChild && node.lastChild) {
      const [left, right] = [missingIn(node.firstChild), missingIn(node.lastChild)]
      if (node.getChild('Unless')) return left
      if (node.getChild('Or') && (left.length === 0 || right.length === 0)) return []
      return [...left, ...right]
    }
    return childrenOf(node).flatMap(missingIn)
  }
  const missingOf = (selector: SyntaxNode): readonly string[] => {
    const { name, matchers } = partsOf(selector, expression)
    if (name !== undefined) return names.has(name) ? [] : [name]
    const own = matchers.filter(({ label }) => label === '__name__')
    const hasData = [...names].some((one) => own.every(({ matches }) => matches(one)))
    return hasData ? [] : own.flatMap(({ value }) => value.split('|'))
  }
  return [...new Set(missingIn(parsePromql(expression)))]
}
