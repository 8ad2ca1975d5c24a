import type { LogField } from '../../log-fields.ts'

/** Characters of a usual value. */
const WIDTHS: Readonly<Record<LogField, number>> = {
  removed: 5,
  log_index: 3,
  transaction_index: 3,
  transaction_hash: 66,
  block_hash: 66,
  block_number: 8,
  address: 42,
  data: 66,
  topic0: 66,
  topic1: 66,
  topic2: 66,
  topic3: 66,
}

/** Quotes, colon, comma. */
const SIGNS = 6

/** How much of a page are values: a store counts these, a client gets keys and signs, too. */
export const shareOfValues = (fields: readonly LogField[]): number => {
  const values = fields.reduce((sum, field) => sum + WIDTHS[field], 0)
  const keys = fields.reduce((sum, field) => sum + field.length + SIGNS, 2)
  return Math.max(values, 1) / (Math.max(values, 1) + keys)
}
