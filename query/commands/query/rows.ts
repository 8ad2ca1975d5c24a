import { QueryError, repeatedPosition } from '../../client/errors.ts'
import type { LogQuery, Page } from '../../client/types.ts'
import { type LogField, TOPICS } from '../../log-fields.ts'

export type RowFormat = 'ndjson' | 'csv'

interface RowRenderer {
  /** The line before the first row; empty for NDJSON. */
  readonly head: string
  render(page: Page): RenderedPage
}

export interface RenderedPage {
  readonly text: string
  readonly rows: number
  /** The number of logs without a row, because the query did not request them. */
  readonly unrequested: number
}

interface RowOptions {
  /** Which logs were requested, and the fields of a row. */
  readonly query: Pick<LogQuery, 'addresses' | 'topics' | 'fields'>
  readonly format: RowFormat
  /** Redacts the API key in a value from the service. */
  readonly redact: (text: string) => string
}

type Value = string | number | boolean | null

/** One row per log, ordered by block and log index, independent of the order in the page. */
export const createRowRenderer = ({ query, format, redact }: RowOptions): RowRenderer => {
  const fields: readonly LogField[] = [...new Set<LogField>(['block_number', 'log_index', ...query.fields])]
  const isRequested = createLogFilter(query)
  return {
    head: format === 'csv' ? csvLine(fields) : '',
    render: (page) => {
      const all = rowsOf(page, { fields, redact })
      const rows = all.filter(isRequested)
      const lines = rows.map(({ values }) =>
        format === 'csv'
          ? csvLine(values.map((value) => (value === null ? '' : String(value))))
          : `${JSON.stringify(Object.fromEntries(fields.map((field, at) => [field, values[at]])))}\n`,
      )
      return { text: lines.join(''), rows: rows.length, unrequested: all.length - rows.length }
    },
  }
}

interface Row {
  readonly block: number
  readonly index: number
  readonly address: string | null
  readonly topics: readonly (string | null)[]
  readonly values: readonly Value[]
}

interface RowContext extends Pick<RowOptions, 'redact'> {
  readonly fields: readonly LogField[]
}

const rowsOf = (page: Page, { fields, redact }: RowContext): readonly Row[] => {
  const rows = page
    .logObjects()
    .map((log): Row => {
      const read = (field: LogField): Value => {
        const raw = log[field] ?? null
        const value = raw === null ? null : READERS[field].read(raw)
        if (value !== undefined) return value
        throw unexpected(`${READERS[field].expected} as ${field} of ${nameOf(log)}`, redact(JSON.stringify(raw)))
      }
      const [block, index] = [read('block_number'), read('log_index')]
      if (typeof block !== 'number' || typeof index !== 'number') {
        throw unexpected('a log with its block_number and log_index', redact(JSON.stringify(log)))
      }
      const topics = TOPICS.map((topic) => textOf(log[topic]))
      return { block, index, address: textOf(log['address']), topics, values: fields.map(read) }
    })
    .toSorted((a, b) => a.block - b.block || a.index - b.index)
  for (const [at, { block, index }] of rows.entries()) {
    const before = rows[at - 1]
    if (before?.block === block && before.index === index) throw repeatedPosition(block, index)
  }
  return rows
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const parseNumber = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^(?:0x[0-9a-fA-F]+|\d+)$/.test(value) ? Number(value) : value
  const isCount = typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
  return isCount ? number : undefined
}

const nameOf = (log: Readonly<Record<string, unknown>>): string => {
  const [block, index] = [parseNumber(log['block_number']), parseNumber(log['log_index'])]
  return `log ${index ?? '(no number)'} in block ${block ?? '(no number)'}`
}

interface ValueReader {
  readonly expected: string
  /** Undefined for an unexpected value. */
  readonly read: (value: unknown) => Value | undefined
}

const NUMBER: ValueReader = { expected: 'a number', read: parseNumber }

/** Only hex digits, so that no text of the service, such as a formula, reaches a spreadsheet. */
const HEX: ValueReader = {
  expected: 'hex digits',
  read: (value) => {
    if (value === '') return null
    const isHex = typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)
    return isHex ? value.toLowerCase() : undefined
  },
}

const BOOLEAN: ValueReader = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

const READERS: Readonly<Record<LogField, ValueReader>> = {
  removed: BOOLEAN,
  log_index: NUMBER,
  transaction_index: NUMBER,
  transaction_hash: HEX,
  block_hash: HEX,
  block_number: NUMBER,
  address: HEX,
  data: HEX,
  topic0: HEX,
  topic1: HEX,
  topic2: HEX,
  topic3: HEX,
}

const unexpected = (expected: string, evidence?: string): QueryError =>
  new QueryError('protocol', {
    doing: 'read a page of the query service',
    happened: `expected ${expected}`,
    evidence,
    advice: 'contact the operator of the service',
  })

/** A line of CSV (RFC 4180), but with a line feed only: Unix tools do not expect a carriage return. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\n`

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

type LogCriteria = Pick<LogQuery, 'addresses' | 'topics'>

/** The fields of a log by which the service selects it; null if the response does not have the field. */
interface SelectedBy {
  readonly address: string | null
  /** A topic that the log does not have is null. */
  readonly topics: readonly (string | null)[]
}

/** Whether the query requested a log. An address that the response does not have cannot be compared. */
export const createLogFilter = ({ addresses, topics }: LogCriteria): ((log: SelectedBy) => boolean) => {
  const contracts = new Set(addresses)
  const positions = topics.flatMap((alternatives, at) =>
    alternatives.length === 0 ? [] : [{ at, alternatives: new Set(alternatives) }],
  )
  return (log) =>
    (contracts.size === 0 || log.address === null || contracts.has(log.address.toLowerCase())) &&
    positions.every(({ at, alternatives }) => alternatives.has(log.topics[at]?.toLowerCase() ?? ''))
}

/** The fields that show whether the query requested a log. */
export const filterFieldsOf = ({ addresses, topics }: LogCriteria): readonly LogField[] => [
  ...(addresses.length === 0 ? [] : (['address'] as const)),
  ...TOPICS.filter((_, at) => (topics[at] ?? []).length > 0),
]
