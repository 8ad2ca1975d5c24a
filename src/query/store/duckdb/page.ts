import type { DuckDBDataChunk } from '@duckdb/node-api'
import type { LogField } from '../../log-fields.ts'
import { StoreError } from '../errors.ts'
import type { Column, Selection } from '../store.ts'
import type { DuckDb } from './engine.ts'
import type { Layout } from './layout.ts'

type Values = (string | number | boolean | null)[]

/** What has been found so far. */
export interface Page {
  /** Takes the rows of a chunk; false where a block was to begin that is no more part of the page. */
  take(chunk: DuckDBDataChunk): boolean
  /** The time is over: no further block. */
  end(): void
  /** Holds as much as was asked for. */
  isFull(): boolean
  readonly blocks: readonly number[]
  readonly columns: Map<LogField, Column>
}

interface Reading {
  readonly selection: Selection
  readonly layout: Layout
  readonly base: number
}

export const createPage = (duckdb: DuckDb, { selection, layout, base }: Reading): Page => {
  const { maxLogs, maxBytes, fields } = selection
  const blocks: number[] = []
  const own = new Map<LogField, Values>(fields.map((field) => [field, []]))
  const columns = new Map<LogField, Column>(own)
  const targets = layout.parts.map((part) => ({ ...part, values: own.get(part.field) ?? [] }))
  const counts = (['log_index', 'transaction_index'] as const).flatMap((field) => {
    const [place, values] = [layout.places.get(field), own.get(field)]
    return place === undefined || values === undefined ? [] : [{ place, values }]
  })
  const blockNumbers = own.get('block_number')
  const removed = own.get('removed')
  const fixed = 66 * Number(own.has('block_hash')) + 5 * Number(removed !== undefined)
  let bytes = 0
  let over = false
  let current = -1

  const isFull = (): boolean => blocks.length >= maxLogs || bytes >= maxBytes

  const takeBytes = (value: Uint8Array, topicCount: number): void => {
    const hex = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
    let at = 0
    for (const { size, topic, values } of targets) {
      if (topic !== null && topic >= topicCount) {
        values.push(null)
        continue
      }
      const to = size === null ? hex.length : at + size
      values.push(`0x${hex.slice(at, to)}`)
      at = to
      bytes += 2
    }
    bytes += hex.length
    if (at !== hex.length) throw damaged()
  }

  return {
    blocks,
    columns,
    isFull,
    end: () => {
      over = true
    },
    take: (chunk) => {
      const numbers = wholeNumbers(duckdb, chunk, 0)
      const topicCounts = wholeNumbers(duckdb, chunk, layout.places.get('topic_count'))
      const packed = bytesOf(duckdb, chunk, layout.places.get('packed'))
      const others = counts.map(({ place, values }) => ({
        of: wholeNumbers(duckdb, chunk, place),
        values,
      }))
      for (let row = 0; row < chunk.rowCount; row += 1) {
        const block = base + numbers(row)
        if (block !== current) {
          if (block < current) throw damaged()
          if (current !== -1 && (over || isFull())) return false
          current = block
        }
        blocks.push(block)
        bytes += fixed
        for (const { of, values } of others) {
          const number = of(row)
          values.push(number)
          bytes += digits(number)
        }
        if (targets.length > 0) takeBytes(packed(row), topicCounts(row))
        if (blockNumbers !== undefined) {
          blockNumbers.push(block)
          bytes += digits(block)
        }
        removed?.push(false)
      }
      return true
    },
  }
}

const digits = (number: number): number => (number < 10 ? 1 : Math.floor(Math.log10(number)) + 1)

const wholeNumbers = (
  { DuckDBUIntegerVector, DuckDBUTinyIntVector }: DuckDb,
  chunk: DuckDBDataChunk,
  place: number | undefined,
): ((row: number) => number) => {
  if (place === undefined) return () => 0
  const vector = chunk.getColumnVector(place)
  if (!(vector instanceof DuckDBUIntegerVector) && !(vector instanceof DuckDBUTinyIntVector))
    throw damaged()
  return (row) => vector.getItem(row) ?? refuse()
}

const bytesOf = (
  { DuckDBBlobVector }: DuckDb,
  chunk: DuckDBDataChunk,
  place: number | undefined,
): ((row: number) => Uint8Array) => {
  if (place === undefined) return () => NOTHING
  const vector = chunk.getColumnVector(place)
  if (!(vector instanceof DuckDBBlobVector)) throw damaged()
  return (row) => vector.getItemBytes(row) ?? NOTHING
}

const NOTHING = new Uint8Array()

const refuse = (): never => {
  throw damaged()
}

const damaged = (): StoreError =>
  new StoreError('broken', {
    doing: 'read logs',
    happened: 'what the engine brought is not as it was added',
    advice:
      'start the service again; if this comes again, remove the store and fill it anew from the node',
  })
