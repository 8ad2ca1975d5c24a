import type { LogField } from '../../log-fields.ts'
import type { BlockHead, Found } from '../../store/store.ts'
import { type BlockField } from './asked.ts'
import { ByteWriter } from './byte-writer.ts'
import { createRows } from './rows.ts'

/** The hashes by which a client of the hosted service sees that its pages are of one chain. */
export interface Guard {
  readonly first: BlockHead
  readonly last: BlockHead
}

/** `{"logs":[…],"block":7}` for each block with logs. Its clients count `"block_number"`: that is a log's alone. */
export const encodeSpec = (found: Found, fields: readonly LogField[], isDone: boolean): Buffer => {
  const rows = createRows(found, fields)
  const groups = groupsOf(found.blocks)
  const to = new ByteWriter(rows.size + groups.length * 64 + 128)
  to.text('{"data":[')
  groups.forEach(({ block, begin, end }, index) => {
    to.text(`${index === 0 ? '' : ','}{"logs":[`)
    rows.write(to, begin, end)
    to.text(`],"block":${block}}`)
  })
  const next = isDone ? '' : `"next_block":${found.next},`
  to.text(`],${next}"archive_height":${found.range.last}}`)
  return to.done()
}

interface Group {
  readonly block: number
  readonly begin: number
  end: number
}

const groupsOf = (blocks: readonly number[]): readonly Group[] => {
  const groups: Group[] = []
  for (const [row, block] of blocks.entries()) {
    const last = groups.at(-1)
    if (last?.block === block) last.end = row + 1
    else groups.push({ block, begin: row, end: row + 1 })
  }
  return groups
}

interface HostedPage {
  readonly found: Found
  readonly fields: readonly LogField[]
  readonly blocks: readonly BlockHead[]
  readonly blockFields: readonly BlockField[]
  readonly guard: Guard | null
  readonly milliseconds: number
}

/** One batch for the whole page, or none. */
export const encodeHosted = (page: HostedPage): Buffer => {
  const { found, fields, guard, milliseconds } = page
  const rows = createRows(found, fields)
  const blocks = page.blocks.map((block) => blockText(block, page.blockFields)).join(',')
  const to = new ByteWriter(rows.size + blocks.length + 1024)
  to.text('{"data":[')
  const hasLogs = found.count > 0 && fields.length > 0
  if (hasLogs || blocks !== '') {
    to.text(`{"blocks":[${blocks}],"transactions":[],"logs":[`)
    if (hasLogs) rows.write(to, 0, found.count)
    to.text('],"traces":[]}')
  }
  to.text(`],${envelopeText({ next: found.next, last: found.range.last, milliseconds, guard })}}`)
  return to.done()
}

interface Envelope {
  readonly next: number
  /** Null: nothing is held. */
  readonly last: number | null
  readonly milliseconds: number
  readonly guard: Guard | null
}

export const encodeNothing = (envelope: Envelope): Buffer =>
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

const BLOCK_VALUES: Readonly<Record<BlockField, (block: BlockHead) => number | string>> = {
  number: ({ number }) => number,
  hash: ({ hash }) => hash,
  parent_hash: ({ parentHash }) => parentHash,
  timestamp: ({ timestamp }) => `0x${timestamp.toString(16)}`,
}

const blockText = (block: BlockHead, fields: readonly BlockField[]): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, BLOCK_VALUES[field](block)])))
