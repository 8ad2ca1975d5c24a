import { NODE_LABELS, TO_NODE_FROM_TABLE } from './links.ts'
import { type Column } from './panels/table.ts'
import { NO_DATA } from './value-labels.ts'

export const NODE = { keys: { instance: 'Node' }, hidden: NODE_LABELS } as const
export const LINKED_NODE = { ...NODE, links: { instance: TO_NODE_FROM_TABLE } }

/** The largest value of each node. */
export const byNode = (expr: string): string => `max by (job, instance) (${expr})`

/** The text of an empty table is also that of its cells: a cell without a value has its own. */
export const tokens = (title: string, expr: string): Column => ({
  title,
  expr: byNode(expr),
  unit: 'locale',
  decimals: 0,
  empty: NO_DATA,
})

export const ratio = (title: string, expr: string, decimals = 0): Column => ({
  title,
  expr: byNode(expr),
  unit: 'percentunit',
  decimals,
  empty: NO_DATA,
})
