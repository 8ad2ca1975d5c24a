import type { Filter } from '../store.ts'

/** Consecutive blocks of one epoch, written by one writer between two failures. */
export interface Segment {
  readonly epoch: number
  readonly first: number
  readonly last: number
}

/**
 * A condition for the committed rows of these blocks. The tables may have other rows: from a writer that was killed
 * between the logs and the ledger, or from a late insert. Every new writer has another epoch.
 */
export const committedRows = (
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

/** A condition for logs that match one of the filters. */
export const filterCondition = (filters: readonly Filter[]): string => {
  const alternatives = filters.map(conditionsOf)
  return alternatives.includes('1') ? '1' : `(${alternatives.join(' OR ')})`
}

const conditionsOf = ({ addresses, topics }: Filter): string => {
  const conditions = [
    ...(addresses.length === 0 ? [] : [oneOf('address', addresses, 20)]),
    ...topics.flatMap((values, position) => (values.length === 0 ? [] : [topicCondition(values, position)])),
  ]
  return conditions.length === 0 ? '1' : `(${conditions.join(' AND ')})`
}

/** An absent topic is stored as zeros. */
const topicCondition = (values: readonly string[], position: number): string => {
  // A log has at most four topics.
  if (position > 3) return '0'
  const zeros = values.some((value) => /^0x0+$/.test(value))
  return `${oneOf(`topic${position}`, values, 32)}${zeros ? ` AND topics > ${position}` : ''}`
}

const oneOf = (column: string, values: readonly string[], bytes: number): string =>
  `${column} IN (${[...new Set(values)].map((value) => hexLiteral(value, bytes)).join(', ')})`

const BYTES = /^0x(?:[0-9a-f]{2})*$/

/** Bytes as an SQL string literal. The pattern prevents SQL injection. */
export const hexLiteral = (hex: string, bytes: number): string => {
  if (!BYTES.test(hex) || hex.length !== 2 + 2 * bytes)
    throw new RangeError(`not ${bytes} bytes of hex: ${hex.slice(0, 80)}`)
  return `'${hex.slice(2).replaceAll(/../g, '\\x$&')}'`
}
