import type { SyntaxNode } from '@lezer/common'
import { parsePromql, partsOf } from './evaluate.ts'

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

const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] => {
  const children: SyntaxNode[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child)
  return children
}
