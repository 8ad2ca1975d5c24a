import { z } from 'zod'
import { TIMELINES } from '../storage/definition.ts'
import type { ExecutionEvent, Upsert, ExecutedBlock } from '../../parsers/execution-log.ts'

const integer = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
const history = z.object({ version: integer, earliest: integer.nullable() }).nullable()

/** The latest values in the log; null until the log contains them. */
export const latestValuesSchema = z.object({
  /** The process that logged them: another one may start at a lower block. */
  process: z.string(),
  block: z.object({ number: integer, at: z.number() }).nullable(),
  finalized: integer.nullable(),
  usedRatio: z.number().nullable(),
  chunks: z.object({ fast: integer, slow: integer, free: integer }).nullable(),
  history: z.object({ primary: history, secondary: history }),
  residentBytes: z.number().nullable(),
})
export type LatestValues = Readonly<z.output<typeof latestValuesSchema>>

export const NO_VALUES: LatestValues = {
  process: '',
  block: null,
  finalized: null,
  usedRatio: null,
  chunks: null,
  history: { primary: null, secondary: null },
  residentBytes: null,
}

/** The values after one more line. */
export const withEvent = (before: LatestValues, event: ExecutionEvent): LatestValues => {
  if (event.event === 'executed') return { ...before, block: higher(before.block, event) }
  if (event.event === 'upserted') return withUpsert(before, event)
  if (event.event === 'run') return { ...before, residentBytes: event.residentBytes }
  const { finalized } = before
  const isHigher = finalized === null || event.number > finalized
  return isHigher ? { ...before, finalized: event.number } : before
}

/** Clears the values of another process: a node that was reset, or restored from a snapshot, starts at a lower block. */
export const forProcess = (before: LatestValues, process: string): LatestValues =>
  before.process === process ? before : { ...NO_VALUES, process }

const higher = (before: LatestValues['block'], { number, blockAt }: ExecutedBlock): LatestValues['block'] =>
  before !== null && before.number > number ? before : { number, at: blockAt }

const withUpsert = (before: LatestValues, event: Upsert): LatestValues => {
  const { usedRatio, chunks, timeline, version, earliest } = event
  const updated = { ...before, usedRatio, chunks }
  if (version === null) return updated
  const all = { ...before.history, [timeline]: { version, earliest } }
  return { ...updated, history: withoutEndedTimelines(all, version) }
}

/** Both timelines are written with each block: one that is no longer written has ended. Distance in blocks. */
const ENDED_AFTER = 16n

const withoutEndedTimelines = (all: LatestValues['history'], version: bigint): LatestValues['history'] => {
  const kept = { ...all }
  for (const timeline of TIMELINES) {
    const distance = version - (all[timeline]?.version ?? version)
    if (distance > ENDED_AFTER || distance < -ENDED_AFTER) kept[timeline] = null
  }
  return kept
}
