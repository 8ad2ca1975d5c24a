import { parser } from '@prometheus-io/lezer-promql'

const FILTER = 'job=~"$job", cluster=~"$cluster", instance=~"$instance"'

/** The selected nodes, and series without a node: alerts such as that no agent is scraped at all. */
export const OR_NO_NODE = 'instance=~"$instance|"'
const FILTER_OR_NO_NODE = 'job=~"$job", cluster=~"$cluster|"'

/**
 * The selector that counts the nodes of a key. It covers all nodes, like its alert: a key can be reused by a node that
 * is not selected.
 */
const OF_ALL_NODES = 'count by (identity) (group by (identity, boot) (chain_duty_identity_active == 1))'

/**
 * The expression on one line, with the dashboard variables added to every selector except that of the reused key. What
 * groups or matches by node does so by cluster, too: two clusters may have nodes of the same name.
 */
export const filtered = (expression: string): string => {
  const text = expression.trim().replaceAll(/\s+/g, ' ').replaceAll('(job, instance', '(job, cluster, instance')
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
      const filter = text.slice(from, node.to).includes(OR_NO_NODE) ? FILTER_OR_NO_NODE : FILTER
      found.push(matchers ? { at: matchers.from + 1, insert: `${filter}, ` } : { at: node.to, insert: `{${filter}}` })
    },
  })
  return found
}

const isOfAllNodes = (text: string, selector: number): boolean => {
  const begin = text.lastIndexOf(OF_ALL_NODES, selector)
  return begin !== -1 && selector < begin + OF_ALL_NODES.length
}

/** Grafana's duration variables are not PromQL: durations of the same text length replace them. */
const readable = (text: string): string =>
  text.replaceAll(/\$__(?:rate_interval|interval|range)/g, (word) => '1m'.padStart(word.length, '0'))

/**
 * The expression over time, but only for series that have a value at the end of the range: the last value of a tile is
 * then the current one. Grafana would otherwise show the last value of a series that has ended.
 */
export const untilNow = (expr: string): string => `
  (${expr}) and on (job, instance) last_over_time((${expr})[1s:1s] @ end())`

/** A quantile of a histogram for each node, and for each value of the label `by`. */
export const quantile = (q: number, metric: string, by?: string): string => {
  const [name = '', rest = ''] = metric.split(/(?=\{)/)
  const labels = ['job', 'instance', 'le', ...(by === undefined ? [] : [by])].join(', ')
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${name}_bucket${rest}[$__rate_interval])))`
}

/** More lines cannot be distinguished; each name pattern has this many styles. */
const SHOWN = 10

/**
 * The complete lines of the nodes with the highest (lowest) value in the range. topk at each step would give lines that
 * come and go. The nodes are chosen with the steps of the graph.
 */
export const highest = (expr: string): string => chosen(expr, 'topk', 'max')
export const lowest = (expr: string): string => chosen(expr, 'bottomk', 'min')

const chosen = (expr: string, choose: 'topk' | 'bottomk', over: 'max' | 'min'): string => `
  ${expr}
  and on (job, instance)
  ${choose}(${SHOWN}, ${over}_over_time((${expr})[$__range:$__interval] @ end()))`
