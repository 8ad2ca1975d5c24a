import type { LogField } from '../../log-fields.ts'
import type { Column, Found } from '../../store/store.ts'
import { type ByteWriter } from './byte-writer.ts'

const COMMA = 0x2c
const QUOTE = 0x22
const OPEN = 0x7b
const CLOSE = 0x7d
/** Digits of the largest number, or a word. */
const LONGEST_CELL = 16

interface Cells {
  readonly column: Column
  /** `"data":` with the comma before it, where one is needed. */
  readonly key: Uint8Array
}

/**
 * Logs as JSON, straight from columns to bytes: no object for each, and no text of the whole page beside its bytes.
 * What the store holds is hex, so nothing in it has to be escaped.
 */
export interface Rows {
  /** No more bytes than this, all rows together. */
  readonly size: number
  /** Rows of logs, with commas between them. */
  write(to: ByteWriter, begin: number, end: number): void
}

export const createRows = (found: Found, fields: readonly LogField[]): Rows => {
  const all = fields.map((field, index): Cells => {
    const column = found.columns.get(field)
    if (column?.length !== found.count) throw new Error(`the store left out some of ${field}`)
    return { column, key: Buffer.from(`${index === 0 ? '' : ','}"${field}":`, 'latin1') }
  })
  return {
    size: all.reduce((sum, cells) => sum + sizeOf(cells), 3 * found.count),
    write: (to, begin, end) => {
      for (let row = begin; row < end; row += 1) {
        if (row > begin) to.byte(COMMA)
        to.byte(OPEN)
        for (const { column, key } of all) {
          to.copy(key)
          writeCell(to, column[row] ?? null)
        }
        to.byte(CLOSE)
      }
    },
  }
}

const sizeOf = ({ column, key }: Cells): number => {
  let size = column.length * (key.length + 2)
  for (const cell of column) size += typeof cell === 'string' ? cell.length : LONGEST_CELL
  return size
}

const writeCell = (to: ByteWriter, cell: Column[number]): void => {
  if (typeof cell !== 'string') {
    to.text(String(cell))
    return
  }
  to.byte(QUOTE)
  to.text(cell)
  to.byte(QUOTE)
}
