import { z } from 'zod'
import { TIMELINES } from '../storage/definition.ts'
import type { ExecutionEvent, Upsert, ExecutedBlock } from '../../parsers/execution-log.ts'

const integer = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
const history = z.object({ version: integer, earliest: integer.nullable() }).nullable()

/** The newest that the log told; null what it has not told yet. */
export const figuresSchema = z.object({
  /** Which process told it: another one may begin lower. */
  process: z.string(),
  block: z.object({ number: integer, at: z.number() }).nullable(),
  finalized: integer.nullable(),
  usedRatio: z.number().nullable(),
  chunks: z.object({ fast: integer, slow: integer, free: integer }).nullable(),
  history: z.object({ primary: history, secondary: history }),
  residentBytes: z.number().nullable(),
})
export type ExecutionFigures = Readonly<z.output<typeof figuresSchema>>

export const noFigures: ExecutionFigures = {
  process: '',
  block: null,
  finalized: null,
  usedRatio: null,
  chunks: null,
  history: { primary: null, secondary: null },
  residentBytes: null,
}

/** The figures after one more line. */
export const withEvent = (before: ExecutionFigures, event: ExecutionEvent): ExecutionFigures => {
  if (event.event === 'executed') return { ...before, block: higher(before.block, event) }
  if (event.event === 'upserted') return withUpsert(before, event)
  if (event.event === 'run') return { ...before, residentBytes: event.residentBytes }
  const { finalized } = before
  const isHigher = finalized === null || event.number > finalized
  return isHigher ? { ...before, finalized: event.number } : before
}

/** A node that was set back, or brought up from a snapshot, begins below where it was. */
export const ofProcess = (before: ExecutionFigures, process: string): ExecutionFigures =>
  before.process === process ? before : { ...noFigures, process }

const higher = (
  before: ExecutionFigures['block'],
  { number, blockAt }: ExecutedBlock,
): ExecutionFigures['block'] =>
  before !== null && before.number > number ? before : { number, at: blockAt }

const withUpsert = (before: ExecutionFigures, event: Upsert): ExecutionFigures => {
  const { usedRatio, chunks, timeline, version, earliest } = event
  const told = { ...before, usedRatio, chunks }
  if (version === null) return told
  const all = { ...before.history, [timeline]: { version, earliest } }
  return { ...told, history: withoutEnded(all, version) }
}

/** Both timelines are written with each block: one that is not any more came to its end. */
const ENDED_AFTER = 16n

const withoutEnded = (
  all: ExecutionFigures['history'],
  version: bigint,
): ExecutionFigures['history'] => {
  const kept = { ...all }
  for (const timeline of TIMELINES) {
    const distance = version - (all[timeline]?.version ?? version)
    if (distance > ENDED_AFTER || distance < -ENDED_AFTER) kept[timeline] = null
  }
  return kept
}
