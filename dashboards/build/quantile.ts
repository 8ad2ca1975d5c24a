/** A quantile of a histogram for each node, and for each value of a label, where one is named. */
export const quantile = (q: number, metric: string, by?: string): string => {
  const [name = '', rest = ''] = metric.split(/(?=\{)/)
  const labels = ['job', 'instance', 'le', ...(by === undefined ? [] : [by])].join(', ')
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${name}_bucket${rest}[$__rate_interval])))`
}
