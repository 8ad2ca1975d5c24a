import { parser } from '@prometheus-io/lezer-promql'

const FILTER = 'job=~"$job", instance=~"$instance"'

/**
 * A key is used twice, however few of its nodes are chosen: what is summed up of it is summed up over all nodes, as
 * its alert does.
 */
const OF_ALL_NODES = 'sum by (identity) (chain_duty_identity_active)'

/** The expression on one line, with every selector but that one bound to what the dashboard's variables choose. */
export const filtered = (expression: string): string => {
  const text = expression.trim().replaceAll(/\s+/g, ' ')
  let result = text
  for (const { at, insert } of insertions(text).toReversed()) {
    result = result.slice(0, at) + insert + result.slice(at)
  }
  return result
}

const insertions = (text: string): readonly { readonly at: number; readonly insert: string }[] => {
  const found: { at: number; insert: string }[] = []
  parser.parse(readable(text)).iterate({
    enter: ({ type, name, from, node }) => {
      if (type.isError) throw new SyntaxError(`no PromQL at ${from}: ${text}`)
      if (name !== 'VectorSelector' || isOfAllNodes(text, from)) return
      const matchers = node.getChild('LabelMatchers')
      found.push(
        matchers
          ? { at: matchers.from + 1, insert: `${FILTER}, ` }
          : { at: node.to, insert: `{${FILTER}}` },
      )
    },
  })
  return found
}

const isOfAllNodes = (text: string, selector: number): boolean => {
  const begin = text.lastIndexOf(OF_ALL_NODES, selector)
  return begin !== -1 && selector < begin + OF_ALL_NODES.length
}

/** Grafana's words for a duration are none of PromQL: durations of the same length stand in for them. */
const readable = (text: string): string =>
  text.replaceAll(/\$__(?:rate_interval|interval|range)/g, (word) =>
    '1m'.padStart(word.length, '0'),
  )
