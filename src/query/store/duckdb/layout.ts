import type { LogField } from '../../log-fields.ts'

/** How the fields that are bytes come out of the engine: all of a row in one value, since each value is a call. */
export interface Layout {
  /** Columns of the statement, the block first. */
  readonly sql: readonly string[]
  /** Place of each column in the statement; absent where it is not asked for. */
  readonly places: ReadonlyMap<'log_index' | 'transaction_index' | 'topic_count' | 'packed', number>
  /** In the order in which their bytes lie in `packed`. */
  readonly parts: readonly Part[]
}

export interface Part {
  readonly field: LogField
  /** Characters of its hex; null for the rest of the row. */
  readonly size: number | null
  /** A topic is there where the log has more topics than this. */
  readonly topic: number | null
}

const ADDRESS = 40
const HASH = 64

/** The rest of the row is the last. */
const PARTS: readonly Part[] = [
  { field: 'address', size: ADDRESS, topic: null },
  { field: 'transaction_hash', size: HASH, topic: null },
  { field: 'topic0', size: HASH, topic: 0 },
  { field: 'topic1', size: HASH, topic: 1 },
  { field: 'topic2', size: HASH, topic: 2 },
  { field: 'topic3', size: HASH, topic: 3 },
  { field: 'data', size: null, topic: null },
]

/** `block` comes as its distance from `base`, which is quicker to take over than a large number. */
export const layoutOf = (fields: readonly LogField[], base: number): Layout => {
  const parts = PARTS.filter(({ field }) => fields.includes(field))
  const topics = parts.some(({ topic }) => topic !== null)
  const bytes = parts.map(({ field, topic }) =>
    topic === null || parts.length === 1 ? field : `coalesce(${field}, ''::BLOB)`,
  )
  const columns = [
    ...(['log_index', 'transaction_index'] as const)
      .filter((field) => fields.includes(field))
      .map((field) => ({ place: field, sql: `${field}` })),
    ...(topics ? [{ place: 'topic_count' as const, sql: 'topic_count' }] : []),
    ...(bytes.length > 0 ? [{ place: 'packed' as const, sql: bytes.join(' || ') }] : []),
  ]
  return {
    sql: [`(block - ${base})::UINTEGER`, ...columns.map(({ sql }) => sql)],
    places: new Map(columns.map(({ place }, index) => [place, index + 1])),
    parts,
  }
}
