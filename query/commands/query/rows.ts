import { QueryError, repeatedPosition } from '../../client/errors.ts'
import type { LogQuery, Page } from '../../client/types.ts'
import { parseInteger } from '../../client/wire-format.ts'
import { createLogFilter, type LogField, TOPICS } from '../../log-fields.ts'

export type RowFormat = 'ndjson' | 'csv'

interface RenderedPage {
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
export const createRowRenderer = ({ query, format, redact }: RowOptions) => {
  const fields: readonly LogField[] = [...new Set<LogField>(['block_number', 'log_index', ...query.fields])]
  const isRequested = createLogFilter(query)
  return {
    /** The line before the first row; empty for NDJSON. */
    head: format === 'csv' ? csvLine(fields) : '',
    render: (page: Page): RenderedPage => {
      const all = rowsOf(page, fields, redact)
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

const rowsOf = (page: Page, fields: readonly LogField[], redact: RowOptions['redact']) => {
  const rows = page
    .logObjects()
    .map((log) => {
      const read = (field: LogField): Value => {
        const raw = log[field] ?? null
        const reader = READERS[field] ?? HEX
        const value = raw === null ? null : reader.read(raw)
        if (value !== undefined) return value
        throw unexpected(`${reader.expected} as ${field} of ${nameOf(log)}`, redact(JSON.stringify(raw)))
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

const nameOf = (log: Readonly<Record<string, unknown>>): string => {
  const [block, index] = [parseInteger(log['block_number']), parseInteger(log['log_index'])]
  return `log ${index ?? '(no number)'} in block ${block ?? '(no number)'}`
}

interface ValueReader {
  readonly expected: string
  /** Undefined for an unexpected value. */
  readonly read: (value: unknown) => Value | undefined
}

const NUMBER: ValueReader = { expected: 'a number', read: parseInteger }

/** Only hex digits, so that no text of the service, such as a formula, reaches a spreadsheet. */
const HEX: ValueReader = {
  expected: 'hex digits',
  read: (value) => {
    if (value === '') return null
    const isHex = typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)
    return isHex ? value.toLowerCase() : undefined
  },
}

/** Of the fields that are not hex. */
const READERS: Readonly<Partial<Record<LogField, ValueReader>>> = {
  removed: { expected: 'true or false', read: (value) => (typeof value === 'boolean' ? value : undefined) },
  log_index: NUMBER,
  transaction_index: NUMBER,
  block_number: NUMBER,
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

/** The fields that show whether the query requested a log. */
export const filterFieldsOf = ({ addresses, topics }: Pick<LogQuery, 'addresses' | 'topics'>): readonly LogField[] => [
  ...(addresses.length === 0 ? [] : (['address'] as const)),
  ...TOPICS.filter((_, at) => (topics[at] ?? []).length > 0),
]
