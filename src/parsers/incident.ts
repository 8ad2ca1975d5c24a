import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'
import { causeSeverity as severity, text, texts, time } from './agent-status.ts'

const alert = z.object({
  alert: text,
  labels: z.record(text, text),
  summary: text,
  description: text,
  /** When its condition became true, when it fired first, and when its condition ended. */
  sinceAt: time,
  firedAt: time,
  endedAt: time.nullable(),
})

const finding = z.object({ name: text, severity, summary: text })

const diagnosis = z.object({
  word: z.enum(['OK', 'WARNING', 'CRITICAL', 'UNKNOWN', 'MAINTENANCE']),
  sentence: text,
  recovery: z.object({ path: text, summary: text, left: text.nullable() }),
  causes: z
    .array(
      finding.extend({
        timing: text.nullable(),
        evidence: texts,
        advice: texts,
        consequences: z.array(finding).readonly(),
      }),
    )
    .readonly(),
})

const unitLog = z.object({
  unit: text,
  /** Time, writer if it was not the service, and text. */
  lines: texts,
  /** Whether there were more lines than are kept. */
  isCut: z.boolean(),
  /** Why it could not be read. */
  error: text.nullable(),
})

/** A range of the journals. Of too many lines those next to the alert are kept. */
const journalRange = z.object({
  fromAt: time,
  toAt: time,
  keep: z.enum(['newest', 'oldest']),
  /** Null until the range has passed and was read. */
  units: z.array(unitLog).readonly().nullable(),
})

export const incidentSchema = z.object({
  id: text,
  /** The version of the agent. */
  agent: text,
  firedAt: time,
  /** When the last journal was read; null if that is still to be done. */
  completedAt: time.nullable(),
  alerts: z.array(alert).readonly(),
  diagnosis,
  /** The last output of each tool. */
  tools: z.array(z.object({ command: text, at: time, output: text })).readonly(),
  /** By collector, as in /api/v1/status. */
  readings: z.record(text, z.unknown()),
  journals: z.array(journalRange).readonly(),
})

/** What the agent keeps when a critical alert fires. */
export type Incident = z.output<typeof incidentSchema>
export type IncidentAlert = z.output<typeof alert>
export type JournalRange = z.output<typeof journalRange>
export type UnitLog = z.output<typeof unitLog>

/** The lines of all journals are values. */
const LIMITS = { depth: 64, values: 1_000_000 }

/** A stored incident. Throws a ParseError. */
export const parseIncident = (json: string): Incident => {
  const { data } = incidentSchema.safeParse(tryJson(json, LIMITS))
  if (data) return data
  throw new ParseError('the incident', 'the complete JSON of one incident of this version', json)
}
