import { z } from 'zod'
import { QueryError } from '../../query/client/errors.ts'
import type { LogField, Page } from '../../query/client/types.ts'
import { csvLine } from './csv.ts'

export type RowFormat = 'ndjson' | 'csv'

interface Renderer {
  /** Above the first row. */
  readonly head: string
  render(page: Page): { readonly text: string; readonly rows: number }
}

type Value = string | number | boolean | null

/** A row a log, ordered by block and place in it, whatever the order in the page. */
export const createRows = (asked: readonly LogField[], format: RowFormat): Renderer => {
  const fields: readonly LogField[] = [
    ...new Set<LogField>(['block_number', 'log_index', ...asked]),
  ]
  return {
    head: format === 'csv' ? csvLine(fields) : '',
    render: (page) => {
      const rows = rowsOf(page, fields)
      const lines = rows.map(({ values }) =>
        format === 'csv'
          ? csvLine(values.map((value) => (value === null ? '' : String(value))))
          : `${JSON.stringify(Object.fromEntries(fields.map((field, at) => [field, values[at]])))}\n`,
      )
      return { text: lines.join(''), rows: rows.length }
    },
  }
}

interface Row {
  readonly block: number
  readonly index: number
  readonly values: readonly Value[]
}

const rowsOf = (page: Page, fields: readonly LogField[]): readonly Row[] => {
  const { data } = pageSchema.safeParse(parsed(page.body))
  if (!data) throw odd('a page of logs')
  const rows = data.data
    .flatMap(({ logs }) => logs ?? [])
    .map((log): Row => {
      const [block, index] = [numberOf(log['block_number']), numberOf(log['log_index'])]
      if (typeof block !== 'number' || typeof index !== 'number') throw odd('a log with its place')
      return { block, index, values: fields.map((field) => READERS[field](log[field])) }
    })
    // A server whose end is inclusive sends a block more.
    .filter(({ block }) => block >= page.from && block < page.next)
    .toSorted((a, b) => a.block - b.block || a.index - b.index)
  if (rows.length !== page.logs().length) throw odd('the logs that were counted')
  return rows.filter((row, at) => {
    const before = rows[at - 1]
    if (before?.block !== row.block || before.index !== row.index) return true
    if (row.values.every((value, field) => value === before.values[field])) return false
    throw odd(`one log in one place, not two (block ${row.block}, index ${row.index})`)
  })
}

const pageSchema = z.object({
  data: z.array(z.object({ logs: z.array(z.record(z.string(), z.unknown())).nullish() })),
})

const parsed = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch {
    throw odd('JSON')
  }
}

const numberOf = (value: unknown): number | null => {
  if (value === null || value === undefined) return null
  const number =
    typeof value === 'string' && /^(?:0x[0-9a-fA-F]+|\d+)$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number
  throw odd('a number')
}

/** Hex digits alone: what else a server may send would go into a spreadsheet. */
const hexOf = (value: unknown): string | null => {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)) return value.toLowerCase()
  throw odd('hex digits')
}

const truthOf = (value: unknown): boolean | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value
  throw odd('true or false')
}

const READERS: Readonly<Record<LogField, (value: unknown) => Value>> = {
  removed: truthOf,
  log_index: numberOf,
  transaction_index: numberOf,
  transaction_hash: hexOf,
  block_hash: hexOf,
  block_number: numberOf,
  address: hexOf,
  data: hexOf,
  topic0: hexOf,
  topic1: hexOf,
  topic2: hexOf,
  topic3: hexOf,
}

const odd = (expected: string): QueryError =>
  new QueryError('protocol', {
    doing: 'understand a page of the query service',
    happened: `expected ${expected}`,
    advice: 'ask the operator of the service',
  })
