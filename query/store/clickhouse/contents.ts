import { StoreError } from '../errors.ts'
import type { Block } from '../store.ts'
import { LEDGER, logsTable, STATE } from './open.ts'
import { dataBytes } from './row-binary.ts'
import type { Servers } from './servers.ts'

/** Consecutive blocks of one epoch, written by one writer between two failures. Segments are ordered by block. */
export interface Segment {
  readonly epoch: number
  readonly first: number
  readonly last: number
}

/**
 * A condition for the committed rows of these blocks. The tables may have other rows: from a writer that was killed
 * between the logs and the ledger, or from a late insert. Every new writer has another epoch.
 */
export const committedRows = (
  column: 'block' | 'number',
  segments: readonly Segment[],
  { from, to }: { readonly from: number; readonly to: number },
): string => {
  const epochs = segments
    .filter(({ first, last }) => first <= to && last >= from)
    .map(({ epoch, first, last }) => `(epoch = ${epoch} AND ${column} >= ${first} AND ${column} <= ${last})`)
  const any = epochs.length === 0 ? '0' : `(${epochs.join(' OR ')})`
  return `${column} >= ${from} AND ${column} <= ${to} AND ${any}`
}

/** Contents of the store according to the ledger. Immutable, so that a read keeps a consistent snapshot. */
export interface StoreContents {
  readonly first: number
  readonly last: number
  readonly lastHash: string
  readonly segments: readonly Segment[]
  readonly logs: number
  readonly density: ReturnType<typeof createDensity>
}

export const loadContents = async (servers: Servers): Promise<StoreContents | null> => {
  const floor = await readLargest(servers, 'floor')
  const rows = await servers.query(
    `SELECT epoch, min(number), max(number), count() FROM ${LEDGER} WHERE number >= ${floor} GROUP BY epoch ORDER BY epoch`,
  )
  const replacements = await readReplacements(servers)
  const appended = rows.filter(([epoch]) => !replacements.some((each) => each.epoch === Number(epoch)))
  const segments = replacements.reduce(withReplacement, segmentsOf(servers, appended))
  const [oldest, newest] = [segments[0], segments.at(-1)]
  if (oldest === undefined || newest === undefined) return null
  const { first, last } = { first: oldest.first, last: newest.last }
  const whole = committedRows('number', segments, { from: first, to: last })
  const [[hash] = []] = await servers.query(
    `SELECT lower(hex(hash)) FROM ${LEDGER} WHERE number = ${last} AND epoch = ${newest.epoch}`,
  )
  if (hash === undefined) throw broken(servers, `block ${last} is missing in its ledger`)
  const chunks = await servers.query(
    `SELECT intDiv(number, ${CHUNK}), sum(kept), sum(bytes), count() FROM ${LEDGER} WHERE ${whole} GROUP BY intDiv(number, ${CHUNK})`,
  )
  const density = chunks.map(
    ([chunk, logs, bytes, blocks]) =>
      [Number(chunk), { logs: Number(logs), bytes: Number(bytes), blocks: Number(blocks) }] as const,
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

/** SQL for the largest value of a key; 0 if there is none. */
export const largest = (key: 'floor' | 'epoch'): string => `(SELECT max(value) FROM ${STATE} WHERE key = '${key}')`

export const readLargest = async (servers: Servers, key: 'floor' | 'epoch'): Promise<number> => {
  const [[value] = []] = await servers.query(`SELECT ${largest(key)}`)
  return Number(value)
}

/** Number of newest blocks to verify: a power failure or a replaced server loses the newest logs. */
const VERIFIED_BLOCKS = 1000

export const verifyNewest = async (servers: Servers, contents: StoreContents): Promise<void> => {
  const { last, segments } = contents
  const span = { from: Math.max(contents.first, last - VERIFIED_BLOCKS + 1), to: last }
  const [[kept] = []] = await servers.query(
    `SELECT sum(kept) FROM ${LEDGER} WHERE ${committedRows('number', segments, span)}`,
  )
  const [[there] = []] = await servers.query(
    `SELECT count() FROM ${logsTable(servers)} WHERE ${committedRows('block', segments, span)}`,
  )
  if (kept === there) return
  throw broken(servers, `its newest blocks have ${there} logs, but the ledger lists ${kept}`)
}

/**
 * A later epoch starts where its writer found the end. Blocks of an earlier epoch beyond that were inserted late and
 * have been written again.
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
    if (before !== undefined && before.last + 1 !== first) throw broken(servers, `its ledger has a gap before ${first}`)
  }
  return segments
}

/** Key of the row in the state table for an epoch that replaces blocks. Its largest value applies. */
const REPLACEMENT = 'replacement:'

/**
 * The row that makes replaced blocks visible; without a last block, the row that announces the epoch, so that its blocks
 * in the ledger never count as appended.
 */
export const replacementRow = ({
  epoch,
  first,
  last,
}: Omit<Segment, 'last'> & { readonly last: number | null }): string =>
  `${REPLACEMENT}${epoch}\t${last === null ? 0 : last + 1}\t${first}`

/** Ordered by epoch, so that the latest replacement of a block applies. */
const readReplacements = async (servers: Servers): Promise<readonly Segment[]> => {
  const rows = await servers.query(
    `SELECT key, max(value), argMax(text, value) FROM ${STATE} WHERE startsWith(key, '${REPLACEMENT}') GROUP BY key`,
  )
  return rows
    .map(([key = '', value, first]) => ({
      epoch: Number(key.slice(REPLACEMENT.length)),
      first: Number(first),
      last: Number(value) - 1,
    }))
    .toSorted((one, other) => one.epoch - other.epoch)
}

/** The segments with these blocks taken from another epoch. Blocks that are no longer stored are left out. */
const withReplacement = (segments: readonly Segment[], { epoch, first, last }: Segment): readonly Segment[] =>
  segments.flatMap((segment) => {
    const [from, to] = [Math.max(first, segment.first), Math.min(last, segment.last)]
    if (from > to) return [segment]
    return [
      { ...segment, last: from - 1 },
      { epoch, first: from, last: to },
      { ...segment, first: to + 1 },
    ].filter((part) => part.first <= part.last)
  })

const broken = ({ location }: Servers, happened: string): StoreError =>
  new StoreError('broken', {
    doing: `use the store in ClickHouse at ${location.hosts[0]}`,
    happened,
    advice:
      'create a new store in another database, or drop the tables chain_* of this one on every server, and index again',
  })

export interface Amount {
  readonly logs: number
  readonly bytes: number
}

interface Chunk extends Amount {
  readonly blocks: number
}

export const CHUNK = 1024

/** Approximate number of logs and bytes per range of blocks, so that a read selects about as much as it needs. */
export const createDensity = (known: ReadonlyMap<number, Chunk>) => {
  const chunks = new Map(known)
  return {
    add: (blocks: readonly Block[]): void => {
      for (const { number, logs } of blocks) {
        const chunk = Math.floor(number / CHUNK)
        const { logs: before, bytes, blocks: count } = chunks.get(chunk) ?? NONE
        chunks.set(chunk, { logs: before + logs.length, bytes: bytes + dataBytes(logs), blocks: count + 1 })
      }
    },
    /** The last block of a range that should not exceed `most`; at least `from`. */
    reach: ({ from, to }: { readonly from: number; readonly to: number }, most: Amount): number => {
      let left = most
      let at = from
      while (at <= to) {
        const end = Math.min(to, (Math.floor(at / CHUNK) + 1) * CHUNK - 1)
        const { logs, bytes, blocks } = chunks.get(Math.floor(at / CHUNK)) ?? NONE
        // Assumes an even distribution within the chunk.
        const share = (end - at + 1) / Math.max(1, blocks)
        const fits = Math.min(left.logs / (logs * share), left.bytes / (bytes * share))
        if (fits < 1) return Math.max(from, at - 1 + Math.floor(fits * (end - at + 1)))
        left = { logs: left.logs - logs * share, bytes: left.bytes - bytes * share }
        at = end + 1
      }
      return to
    },
  }
}

const NONE: Chunk = { logs: 0, bytes: 0, blocks: 0 }
