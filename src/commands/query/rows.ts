import { z } from 'zod'
import { QueryError } from '../../query/client/errors.ts'
import type { Page } from '../../query/client/types.ts'
import type { LogField } from '../../query/log-fields.ts'
import { csvLine } from './csv.ts'

export type RowFormat = 'ndjson' | 'csv'

interface Renderer {
  /** Above the first row. */
  readonly head: string
  render(page: Page): { readonly text: string; readonly rows: number }
}

interface Options {
  readonly format: RowFormat
  /** Takes the key out of what the service sent. */
  readonly redact: (text: string) => string
}

type Value = string | number | boolean | null

/** A row a log, ordered by block and place in it, whatever the order in the page. */
export const createRows = (asked: readonly LogField[], { format, redact }: Options): Renderer => {
  const fields: readonly LogField[] = [
    ...new Set<LogField>(['block_number', 'log_index', ...asked]),
  ]
  return {
    head: format === 'csv' ? csvLine(fields) : '',
    render: (page) => {
      const rows = rowsOf(page, { fields, redact })
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

interface Reading extends Pick<Options, 'redact'> {
  readonly fields: readonly LogField[]
}

const rowsOf = (page: Page, { fields, redact }: Reading): readonly Row[] => {
  const { data } = pageSchema.safeParse(parsed(page.body))
  if (!data) throw odd('a page of logs')
  const rows = data.data
    .flatMap(({ logs }) => logs ?? [])
    .map((log): Row => {
      const read = (field: LogField): Value => {
        const came = log[field] ?? null
        const value = came === null ? null : READERS[field].read(came)
        if (value !== undefined) return value
        throw odd(
          `${READERS[field].expected} as ${field} of ${nameOf(log)}`,
          redact(JSON.stringify(came)),
        )
      }
      const [block, index] = [read('block_number'), read('log_index')]
      if (typeof block !== 'number' || typeof index !== 'number') {
        throw odd('a log with its block_number and log_index', redact(JSON.stringify(log)))
      }
      return { block, index, values: fields.map(read) }
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

const digits = (value: unknown): number | undefined => {
  const number =
    typeof value === 'string' && /^(?:0x[0-9a-fA-F]+|\d+)$/.test(value) ? Number(value) : value
  const isCount = typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
  return isCount ? number : undefined
}

/** Which log it is, as far as that can be told. */
const nameOf = (log: Readonly<Record<string, unknown>>): string => {
  const [block, index] = [digits(log['block_number']), digits(log['log_index'])]
  return `log ${index ?? '(without a number)'} in block ${block ?? '(without a number)'}`
}

interface Reader {
  readonly expected: string
  /** Undefined for what is not expected. */
  readonly read: (value: unknown) => Value | undefined
}

const NUMBER: Reader = { expected: 'a number', read: digits }

/** Hex digits alone: what else a server may send would go into a spreadsheet. */
const HEX: Reader = {
  expected: 'hex digits',
  read: (value) => {
    if (value === '') return null
    const isHex = typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)
    return isHex ? value.toLowerCase() : undefined
  },
}

const TRUTH: Reader = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

const READERS: Readonly<Record<LogField, Reader>> = {
  removed: TRUTH,
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

const odd = (expected: string, evidence?: string): QueryError =>
  new QueryError('protocol', {
    doing: 'understand a page of the query service',
    happened: `expected ${expected}`,
    evidence,
    advice: 'ask the operator of the service',
  })
