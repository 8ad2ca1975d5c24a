import type { LogField } from '../../log-fields.ts'
import type { BlockHeader, Column, LogPage } from '../../store/store.ts'
import type { BlockField } from './parse-query.ts'

/** Hashes with which clients of the hosted service check that consecutive pages are of one chain. */
export interface Guard {
  readonly first: BlockHeader
  readonly last: BlockHeader
}

/** `{"logs":[…],"block":7}` for each block with logs. Clients count `"block_number"`, so only logs have that key. */
export const encodeSpec = (logPage: LogPage, fields: readonly LogField[], isDone: boolean): Buffer => {
  const rows = createRows(logPage, fields)
  const groups = groupByBlock(logPage.blocks)
  const to = new ByteWriter(rows.size + groups.length * 64 + 128)
  to.text('{"data":[')
  groups.forEach(({ block, begin, end }, index) => {
    to.text(`${index === 0 ? '' : ','}{"logs":[`)
    rows.write(to, begin, end)
    to.text(`],"block":${block}}`)
  })
  const next = isDone ? '' : `"next_block":${logPage.next},`
  to.text(`],${next}"archive_height":${logPage.range.last}}`)
  return to.done()
}

interface Group {
  readonly block: number
  readonly begin: number
  end: number
}

const groupByBlock = (blocks: readonly number[]): readonly Group[] => {
  const groups: Group[] = []
  for (const [row, block] of blocks.entries()) {
    const last = groups.at(-1)
    if (last?.block === block) last.end = row + 1
    else groups.push({ block, begin: row, end: row + 1 })
  }
  return groups
}

interface HostedPage {
  readonly logPage: LogPage
  readonly fields: readonly LogField[]
  readonly blocks: readonly BlockHeader[]
  readonly blockFields: readonly BlockField[]
  readonly guard: Guard | null
  readonly milliseconds: number
}

/** One batch for the whole page, or none. */
export const encodeHosted = (page: HostedPage): Buffer => {
  const { logPage, fields, guard, milliseconds } = page
  const rows = createRows(logPage, fields)
  const blocks = page.blocks.map((block) => blockText(block, page.blockFields)).join(',')
  const to = new ByteWriter(rows.size + blocks.length + 1024)
  to.text('{"data":[')
  const hasLogs = logPage.count > 0 && fields.length > 0
  if (hasLogs || blocks !== '') {
    to.text(`{"blocks":[${blocks}],"transactions":[],"logs":[`)
    if (hasLogs) rows.write(to, 0, logPage.count)
    to.text('],"traces":[]}')
  }
  to.text(`],${envelopeText({ next: logPage.next, last: logPage.range.last, milliseconds, guard })}}`)
  return to.done()
}

interface Envelope {
  readonly next: number
  /** Null: the store is empty. */
  readonly last: number | null
  readonly milliseconds: number
  readonly guard: Guard | null
}

export const encodeEmpty = (envelope: Envelope): Buffer =>
  Buffer.from(`{"data":[],${envelopeText(envelope)}}`, 'latin1')

const envelopeText = ({ next, last, milliseconds, guard }: Envelope): string =>
  `"archive_height":${last},"next_block":${next},"total_execution_time":${Math.round(milliseconds)},"rollback_guard":${guardText(guard)}`

const guardText = (guard: Guard | null): string =>
  JSON.stringify(
    guard && {
      block_number: guard.last.number,
      timestamp: guard.last.timestamp,
      hash: guard.last.hash,
      first_block_number: guard.first.number,
      first_parent_hash: guard.first.parentHash,
    },
  )

const BLOCK_VALUES: Readonly<Record<BlockField, (block: BlockHeader) => number | string>> = {
  number: ({ number }) => number,
  hash: ({ hash }) => hash,
  parent_hash: ({ parentHash }) => parentHash,
  timestamp: ({ timestamp }) => `0x${timestamp.toString(16)}`,
}

const blockText = (block: BlockHeader, fields: readonly BlockField[]): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, BLOCK_VALUES[field](block)])))

const COMMA = 0x2c
const QUOTE = 0x22
const OPEN = 0x7b
const CLOSE = 0x7d
/** Digits of the largest number, or a word such as `false`. */
const LONGEST_CELL = 16

interface Cells {
  readonly column: Column
  /** `"data":`, after a comma unless it is the first key. */
  readonly key: Uint8Array
}

/**
 * Encodes logs as JSON directly from columns to bytes: no object per log, and no string of the whole page. The store
 * holds hex only, so no value needs escaping.
 */
export interface Rows {
  /** Upper bound of the size of all rows, in bytes. */
  readonly size: number
  /** Writes logs from row `begin` to `end` (exclusive), separated by commas. */
  write(to: ByteWriter, begin: number, end: number): void
}

const createRows = (logPage: LogPage, fields: readonly LogField[]): Rows => {
  const all = fields.map((field, index): Cells => {
    const column = logPage.columns.get(field)
    if (column?.length !== logPage.count) throw new Error(`the store returned too few values of ${field}`)
    return { column, key: Buffer.from(`${index === 0 ? '' : ','}"${field}":`, 'latin1') }
  })
  return {
    size: all.reduce((sum, cells) => sum + sizeOf(cells), 3 * logPage.count),
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

/** Writes ASCII into a buffer whose size is computed beforehand. */
export class ByteWriter {
  readonly #bytes: Buffer
  #at = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
  }

  text(text: string): void {
    const written = this.#bytes.write(text, this.#at, 'latin1')
    if (written !== text.length) throw new RangeError('the response is longer than its computed size')
    this.#at += written
  }

  /** For short keys a loop is faster than Buffer.copy. */
  copy(part: Uint8Array): void {
    const bytes = this.#bytes
    const start = this.#at
    const { length } = part
    for (let at = 0; at < length; at += 1) bytes[start + at] = part[at] ?? 0
    this.#at = start + length
  }

  byte(byte: number): void {
    this.#bytes[this.#at] = byte
    this.#at += 1
  }

  /** Only the written part: the rest is uninitialised memory. */
  done(): Buffer {
    if (this.#at > this.#bytes.length) throw new RangeError('the response is longer than its computed size')
    return this.#bytes.subarray(0, this.#at)
  }
}
