import type { Filter } from '../store.ts'
import type { Segment } from './held.ts'
import { literal } from './hex.ts'

/**
 * Rows of these blocks that belong to what the ledger shows. Others may lie between them: a writer that was killed between
 * the logs and the ledger, or whose insert came late. The next writer has another epoch.
 */
export const shown = (
  column: 'block' | 'number',
  segments: readonly Segment[],
  { from, to }: { readonly from: number; readonly to: number },
): string => {
  const epochs = segments
    .filter(({ first, last }) => first <= to && last >= from)
    .map(({ epoch, last }) => `(epoch = ${epoch} AND ${column} <= ${last})`)
  const any = epochs.length === 0 ? '0' : `(${epochs.join(' OR ')})`
  return `${column} >= ${from} AND ${column} <= ${to} AND ${any}`
}

/** Alternatives. */
export const matching = (filters: readonly Filter[]): string => {
  const alternatives = filters.map(conditionsOf)
  return alternatives.includes('1') ? '1' : `(${alternatives.join(' OR ')})`
}

const conditionsOf = ({ addresses, topics }: Filter): string => {
  const conditions = [
    ...(addresses.length === 0 ? [] : [oneOf('address', addresses, 20)]),
    ...topics.flatMap((values, position) =>
      values.length === 0 ? [] : [topicCondition(values, position)],
    ),
  ]
  return conditions.length === 0 ? '1' : `(${conditions.join(' AND ')})`
}

/** A topic that is not there is kept as zeros. */
const topicCondition = (values: readonly string[], position: number): string => {
  // A log has four topics at most; a fifth is never there.
  if (position > 3) return '0'
  const zeros = values.some((value) => /^0x0+$/.test(value))
  return `${oneOf(`topic${position}`, values, 32)}${zeros ? ` AND topics > ${position}` : ''}`
}

const oneOf = (column: string, values: readonly string[], bytes: number): string =>
  `${column} IN (${[...new Set(values)].map((value) => literal(value, bytes)).join(', ')})`
