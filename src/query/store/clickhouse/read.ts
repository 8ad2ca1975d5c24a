import type { Clock } from '../../../core/clock.ts'
import type { LogField } from '../../log-fields.ts'
import { StoreError } from '../errors.ts'
import type { Column, LogPage, Selection } from '../store.ts'
import { createColumns, type Columns } from './columns.ts'
import { matching, shown } from './conditions.ts'
import type { Amount } from './density.ts'
import { hashesOf } from './heads.ts'
import { largest, type Held } from './held.ts'
import { LEDGER, logsTable } from './schema.ts'
import type { Servers } from './servers.ts'

interface Reading {
  readonly servers: Servers
  readonly clock: Clock
  /** What the store holds as it begins. */
  readonly held: Held
  readonly signal: AbortSignal
}

/** Looked at in one go at first, whether it matches or not. */
const AT_ONCE: Amount = { logs: 50_000, bytes: 32 * 1024 * 1024 }
/** How much more than before is looked at in the next go. */
const MOST_GROWTH = 16

export const readLogs = async (reading: Reading, selection: Selection): Promise<LogPage> => {
  const { held } = reading
  if (selection.from < held.first) throw prunedTo(held.first)
  const { first, last, lastHash } = held
  const columns = createColumns(selection.fields)
  const next = await walk(reading, selection, columns)
  const values = new Map<LogField, Column>(columns.values)
  if (next > selection.from) {
    const hashes = selection.fields.includes('block_hash') ? columns.blocks : []
    const [known] = await Promise.all([hashesOf(reading, hashes), proveHeld(reading, selection)])
    if (values.has('block_hash'))
      values.set(
        'block_hash',
        hashes.map((block) => known(block)),
      )
  }
  return {
    count: columns.blocks.length,
    blocks: columns.blocks,
    columns: values,
    next,
    range: { first, last, lastHash },
  }
}

/** From stretch to stretch, each as long as what is still wanted should need. The first block that is not covered. */
const walk = async (reading: Reading, selection: Selection, columns: Columns): Promise<number> => {
  const { clock, held, signal } = reading
  const to = Math.min(selection.to, held.last)
  const began = clock.elapsed()
  const { logs, bytes } = AT_ONCE
  let look = { logs: Math.min(logs, selection.maxLogs), bytes: Math.min(bytes, selection.maxBytes) }
  let from = selection.from
  const full = (): number =>
    Math.max(columns.blocks.length / selection.maxLogs, columns.bytes() / selection.maxBytes)
  const over = (): boolean => full() >= 1 || clock.elapsed() - began >= selection.maxMs
  while (from <= to) {
    if (signal.aborted) throw new StoreError('aborted', GONE)
    const before = full()
    const end = held.density.reach({ from, to }, look)
    const cut = await readStretch(reading, { selection, from, to: end, columns, over })
    const lastBlock = columns.blocks.at(-1)
    // With the block that reached a limit the page ends, even if nothing comes behind it.
    if ((cut || full() >= 1) && lastBlock !== undefined) return lastBlock + 1
    from = end + 1
    if (over()) break
    const growth = Math.min(MOST_GROWTH, Math.max(1, (1 - full()) / (full() - before)))
    look = { logs: look.logs * growth, bytes: look.bytes * growth }
  }
  return from
}

interface Stretch {
  readonly selection: Selection
  readonly from: number
  readonly to: number
  readonly columns: Columns
  readonly over: () => boolean
}

/** Whether it ended before its end, as the page is full. */
const readStretch = async (
  { servers, held, signal }: Reading,
  { selection, from, to, columns, over }: Stretch,
): Promise<boolean> => {
  let rest: Buffer | null = Buffer.alloc(0)
  const ends = (block: number): boolean => {
    const last = columns.blocks.at(-1)
    return last !== undefined && block !== last && over()
  }
  const statement =
    `SELECT ${columns.selected} FROM ${logsTable(servers)}` +
    ` WHERE ${shown('block', held.segments, { from, to })} AND ${matching(selection.filters)}` +
    ` ORDER BY block, log_index FORMAT RowBinary`
  const take = (chunk: Buffer): boolean => {
    if (rest !== null)
      rest = columns.take(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), ends)
    return rest !== null
  }
  await servers.stream(statement, take, signal)
  const left = leftOf(rest)
  if (left !== null && left.length > 0)
    throw new StoreError('unavailable', {
      doing: 'read logs from ClickHouse',
      happened: 'the answer ends within a row',
    })
  return left === null
}

/** TypeScript does not see what a closure has set. */
const leftOf = (rest: Buffer | null): Buffer | null => rest

/**
 * What was pruned while it was read may be half of the truth, and so may what is read from a server that was set up anew.
 * The floor is raised before anything is dropped.
 */
const proveHeld = async ({ servers, held }: Reading, { from }: Selection): Promise<void> => {
  const epoch = held.segments.at(-1)?.epoch ?? 0
  const [[floor, count] = []] = await servers.ask(
    `SELECT ${largest('floor')}, count() FROM ${LEDGER} WHERE number = ${held.last} AND epoch = ${epoch}`,
  )
  if (from < Number(floor)) throw prunedTo(Number(floor))
  if (count !== '1')
    throw new StoreError('unavailable', {
      doing: 'read logs from ClickHouse',
      happened: 'blocks that were there are gone from its ledger',
    })
}

const prunedTo = (first: number): StoreError =>
  new StoreError('pruned', { doing: 'read logs', happened: `the first block is ${first}` }, first)

const GONE = { doing: 'read logs', happened: 'nobody waits for them' }
