import type { LogField } from '../../log-fields.ts'
import type { BlockHeader, LogPage } from '../../store/store.ts'
import { type HostedPage, LOG_FIELD_OF, type ReadPage } from './answer.ts'
import type { BlockField } from './parse-query.ts'

/** Characters of a typical value. */
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

/** Quotes, colon and comma. */
const PUNCTUATION = 6

/** The share of a page that is values: the store counts values only, but the page also has keys and punctuation. */
export const valueShareOfJson = (fields: readonly LogField[]): number => {
  const values = fields.reduce((sum, field) => sum + WIDTHS[field], 0)
  const keys = fields.reduce((sum, field) => sum + field.length + PUNCTUATION, 2)
  return Math.max(values, 1) / (Math.max(values, 1) + keys)
}

/**
 * Encodes rows as JSON directly from columns. The store holds hex only, so no value needs escaping. Measured in CPU
 * time on Node.js 20, 1,000 logs: 0.4 to 0.8 ms with all fields and 0.2 to 0.3 ms with five; JSON.stringify of objects
 * takes 1.1 to 1.3 and 0.4 to 0.5 ms. `fields` has the column of each key.
 */
const createEncodeRow = (
  { columns, count }: LogPage,
  fields: readonly (readonly [key: string, field: LogField])[],
): ((row: number) => string) => {
  const cells = fields.map(([key, field], index) => {
    const column = columns.get(field)
    if (column?.length !== count) throw new Error(`the store returned too few values of ${field}`)
    return { column, key: `${index === 0 ? '{' : ','}"${key}":` }
  })
  return (row) => {
    let text = ''
    for (const { column, key } of cells) {
      const cell = column[row] ?? null
      text += typeof cell === 'string' ? `${key}"${cell}"` : `${key}${cell}`
    }
    return `${text}}`
  }
}

const createEncodeLog = (page: LogPage, fields: readonly LogField[]) =>
  createEncodeRow(
    page,
    fields.map((field) => [field, field]),
  )

/** `{"logs":[…],"block":7}` for each block with logs. Clients count `"block_number"`, so only logs have that key. */
export const encodeSpec = ({ query, logs: page, height }: ReadPage): Buffer => {
  const encodeLog = createEncodeLog(page, query.fields)
  let text = '{"data":['
  for (const [row, block] of page.blocks.entries()) {
    const isFirst = block !== page.blocks[row - 1]
    text += `${row === 0 ? '' : ','}${isFirst ? '{"logs":[' : ''}${encodeLog(row)}`
    if (block !== page.blocks[row + 1]) text += `],"block":${block}}`
  }
  const isDone = page.next > Math.min(query.to ?? Infinity, page.range.last)
  const next = isDone ? '' : `"next_block":${page.next},`
  return Buffer.from(`${text}],${next}"archive_height":${height}}`, 'latin1')
}

/** One batch for the whole page, or none. */
export const encodeHosted = (page: HostedPage): Buffer => {
  const blocks = page.blocks.map((block) => encodeBlock(block, page.query.blockFields))
  const { logs, transactions } = page.logs === null ? NO_ROWS : rowsOf(page, page.logs)
  const isEmpty = logs === '' && transactions === '' && blocks.length === 0
  const batch = `{"blocks":[${blocks.join()}],"transactions":[${transactions}],"logs":[${logs}],"traces":[]}`
  return Buffer.from(`{"data":[${isEmpty ? '' : batch}],${envelopeText(page)}}`, 'latin1')
}

const NO_ROWS = { logs: '', transactions: '' }

const rowsOf = ({ query, transactions }: HostedPage, logs: LogPage) => {
  const { fields, transactionFields } = query
  const encodeTransaction = createEncodeRow(
    logs,
    transactionFields.map((field) => [field, LOG_FIELD_OF[field]]),
  )
  return {
    logs: fields.length === 0 ? '' : joined(logs.blocks.keys(), createEncodeLog(logs, fields)),
    transactions: joined(transactions, encodeTransaction),
  }
}

/** Not `join`, which takes a quarter more time for a page of logs. */
const joined = (rows: Iterable<number>, encode: (row: number) => string): string => {
  let text = ''
  for (const row of rows) text += text === '' ? encode(row) : `,${encode(row)}`
  return text
}

const envelopeText = ({ next, height, milliseconds, guard }: HostedPage): string => {
  const rollbackGuard = guard && {
    block_number: guard.last.number,
    timestamp: guard.last.timestamp,
    hash: guard.last.hash,
    first_block_number: guard.first.number,
    first_parent_hash: guard.first.parentHash,
  }
  return `"archive_height":${height},"next_block":${next},"total_execution_time":${Math.round(milliseconds)},"rollback_guard":${JSON.stringify(rollbackGuard)}`
}

const BLOCK_VALUES: Readonly<Record<BlockField, (block: BlockHeader) => number | string>> = {
  number: ({ number }) => number,
  hash: ({ hash }) => hash,
  parent_hash: ({ parentHash }) => parentHash,
  timestamp: ({ timestamp }) => `0x${timestamp.toString(16)}`,
}

const encodeBlock = (block: BlockHeader, fields: readonly BlockField[]): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, BLOCK_VALUES[field](block)])))
