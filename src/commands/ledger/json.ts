import { toJson } from '../../core/json.ts'
import type { LedgerBatch } from './ledger.ts'
import type { LedgerRow } from './rounds.ts'

/** A row for machines: moments in ISO 8601, 64-bit integers as decimal strings, unknown as null. */
export const rowAsJson = (row: LedgerRow, names: ReadonlyMap<string, string>): unknown => {
  if ('kind' in row) {
    const { kind, from, to, at } = row
    return toJson({ event: kind, from, to, at: new Date(at).toISOString() })
  }
  const { writtenAt, isOwn: own, ...event } = row
  const name = names.get(row.author) ?? null
  const more = { name, own, seenAt: new Date(writtenAt).toISOString() }
  if (!('blockAt' in event)) return toJson({ ...event, ...more })
  const { blockAt, ...block } = event
  const seenAfterMs = writtenAt - blockAt
  return toJson({ ...block, ...more, blockAt: new Date(blockAt).toISOString(), seenAfterMs })
}

export const summaryAsJson = ({ summary }: Pick<LedgerBatch, 'summary'>): unknown => toJson(summary)
