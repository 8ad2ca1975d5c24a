/** More lines than these nobody tells apart; each pattern of a name has as many looks. */
const SHOWN = 10

/**
 * Nodes with the highest (lowest) value of the time shown, as the whole lines of these: chosen anew at each step,
 * the lines of a hundred nodes would come and go. The steps of the choice are those of the graph.
 */
export const highest = (expr: string): string => chosen(expr, 'topk', 'max')
export const lowest = (expr: string): string => chosen(expr, 'bottomk', 'min')

const chosen = (expr: string, choose: 'topk' | 'bottomk', over: 'max' | 'min'): string => `
  ${expr}
  and on (job, instance)
  ${choose}(${SHOWN}, ${over}_over_time((${expr})[$__range:$__interval] @ end()))`
