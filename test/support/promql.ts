import { parser } from '@prometheus-io/lezer-promql'
import type { SyntaxNode } from '@lezer/common'

/** A metric that an expression names, with the labels that it asks it for. */
export interface Selected {
  readonly metric: string
  /** Label → the values it is compared with by `=`; empty for another comparison. */
  readonly labels: Readonly<Record<string, string>>
  readonly matchers: readonly Matcher[]
}

interface Matcher {
  readonly label: string
  readonly comparison: string
  readonly value: string
}

/** The metrics, labels and groupings of an expression, by Prometheus's own grammar. Throws if it is not PromQL. */
export const readPromql = (
  expression: string,
): { readonly selected: readonly Selected[]; readonly groupings: readonly string[] } => {
  const tree = parser.parse(expression)
  const text = ({ from, to }: { readonly from: number; readonly to: number }): string => expression.slice(from, to)
  const selected: Selected[] = []
  const groupings = new Set<string>()
  tree.iterate({
    enter: (cursor) => {
      if (cursor.type.isError) throw new SyntaxError(`no PromQL at ${cursor.from}: ${expression}`)
      if (cursor.name === 'VectorSelector') selected.push(...selectors(cursor.node, text))
      if (cursor.name === 'GroupingLabels') {
        for (const label of text(cursor.node).matchAll(/\w+/g)) groupings.add(label[0])
      }
    },
  })
  return { selected, groupings: [...groupings] }
}

const selectors = (node: SyntaxNode, text: (of: SyntaxNode) => string): readonly Selected[] => {
  const identifier = node.getChild('Identifier')
  const labels: Record<string, string> = {}
  const compared: Matcher[] = []
  let names = identifier ? [text(identifier)] : []
  const matchers = node.getChild('LabelMatchers')
  for (const matcher of matchers?.getChildren('UnquotedLabelMatcher') ?? []) {
    const [, label = '', comparison = '', value = ''] =
      /^(\w+)\s*(=~|!~|!=|=)\s*["'](.*)["']$/s.exec(text(matcher)) ?? []
    if (label === '__name__') names = value.split('|')
    else {
      labels[label] = comparison === '=' ? value : ''
      compared.push({ label, comparison, value })
    }
  }
  return names.map((metric) => ({ metric, labels, matchers: compared }))
}
