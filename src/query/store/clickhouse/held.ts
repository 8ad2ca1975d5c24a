import { StoreError } from '../errors.ts'
import { shown } from './conditions.ts'
import { CHUNK, createDensity, type Density } from './density.ts'
import { LEDGER, logsTable, STATE } from './schema.ts'
import type { Servers } from './servers.ts'

/** Blocks in a row that were written under one epoch: by one writer between two failures. */
export interface Segment {
  readonly epoch: number
  readonly first: number
  readonly last: number
}

/** What is held, as the ledger tells; never changed in place, so that a read keeps its own. */
export interface Held {
  readonly first: number
  readonly last: number
  readonly lastHash: string
  readonly segments: readonly Segment[]
  readonly logs: number
  readonly density: Density
}

export const loadHeld = async (servers: Servers): Promise<Held | null> => {
  const floor = await readLargest(servers, 'floor')
  const rows = await servers.ask(
    `SELECT epoch, min(number), max(number), count() FROM ${LEDGER} WHERE number >= ${floor} GROUP BY epoch ORDER BY epoch`,
  )
  const segments = segmentsOf(servers, rows)
  const [oldest, newest] = [segments[0], segments.at(-1)]
  if (oldest === undefined || newest === undefined) return null
  const { first, last } = { first: oldest.first, last: newest.last }
  const whole = shown('number', segments, { from: first, to: last })
  const [[hash] = []] = await servers.ask(
    `SELECT lower(hex(hash)) FROM ${LEDGER} WHERE number = ${last} AND epoch = ${newest.epoch}`,
  )
  if (hash === undefined) throw broken(servers, `block ${last} is in its ledger no more`)
  const chunks = await servers.ask(
    `SELECT intDiv(number, ${CHUNK}), sum(kept), sum(bytes), count() FROM ${LEDGER} WHERE ${whole} GROUP BY intDiv(number, ${CHUNK})`,
  )
  const density = chunks.map(
    ([chunk, logs, bytes, blocks]) =>
      [
        Number(chunk),
        { logs: Number(logs), bytes: Number(bytes), blocks: Number(blocks) },
      ] as const,
  )
  return {
    first,
    last,
    lastHash: `0x${hash}`,
    segments,
    logs: density.reduce((sum, [, { logs }]) => sum + logs, 0),
    density: createDensity(new Map(density)),
  }
}

/** The largest value written down under a key, 0 where there is none: for a statement. */
export const largest = (key: 'floor' | 'epoch'): string =>
  `(SELECT max(value) FROM ${STATE} WHERE key = '${key}')`

export const readLargest = async (servers: Servers, key: 'floor' | 'epoch'): Promise<number> => {
  const [[value] = []] = await servers.ask(`SELECT ${largest(key)}`)
  return Number(value)
}

/** Power gone, or a server set up anew: the newest logs are what would be lost. */
const LOOKED_AT = 1000

export const proveNewest = async (servers: Servers, held: Held): Promise<void> => {
  const { last, segments } = held
  const span = { from: Math.max(held.first, last - LOOKED_AT + 1), to: last }
  const [[kept] = []] = await servers.ask(
    `SELECT sum(kept) FROM ${LEDGER} WHERE ${shown('number', segments, span)}`,
  )
  const [[there] = []] = await servers.ask(
    `SELECT count() FROM ${logsTable(servers)} WHERE ${shown('block', segments, span)}`,
  )
  if (kept === there) return
  throw broken(
    servers,
    `of its newest blocks the ledger knows ${kept} logs, and ${there} are there`,
  )
}

/**
 * A later epoch begins where its writer found the end; what an earlier one wrote beyond that came late, after it had been given up,
 * and has been written again.
 */
const segmentsOf = (servers: Servers, rows: readonly (readonly string[])[]): readonly Segment[] => {
  const spans = rows.map((row) => {
    const [epoch = NaN, first = NaN, last = NaN, count = NaN] = row.map(Number)
    if (last - first + 1 !== count) throw broken(servers, `its ledger has a gap after ${first}`)
    return { epoch, first, last }
  })
  const segments = spans
    .map(({ epoch, first, last }, index) => {
      const later = spans.slice(index + 1).map((span) => span.first)
      return { epoch, first, last: Math.min(last, ...later.map((start) => start - 1)) }
    })
    .filter(({ first, last }) => first <= last)
  for (const [index, { first }] of segments.entries()) {
    const before = segments[index - 1]
    if (before !== undefined && before.last + 1 !== first)
      throw broken(servers, `its ledger has a gap before ${first}`)
  }
  return segments
}

const broken = ({ place }: Servers, happened: string): StoreError =>
  new StoreError('broken', {
    doing: `use the store in ClickHouse at ${place.hosts[0]}`,
    happened,
    advice:
      'make a new one in another database, or drop the tables chain_* of this one on every server, and index again',
  })
