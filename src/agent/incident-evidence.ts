import { withDeadline } from '../core/clock.ts'
import { asError } from '../core/errors.ts'
import { toApiJson } from '../core/json.ts'
import { redactFields } from '../core/redaction/redact-data.ts'
import { redactDocument, redactLog } from '../core/redaction/redact-log.ts'
import { redact } from '../core/redaction/redact.ts'
import { minute, second } from '../core/units.ts'
import type { RuleFinding } from '../parsers/agent-status.ts'
import { diagnose } from '../health/diagnosis.ts'
import type { NodeSnapshot } from '../health/snapshot.ts'
import {
  type Incident,
  type IncidentAlert,
  type JournalRange,
  parseIncident,
  type UnitLog,
} from '../parsers/incident.ts'
import { createExecWithTimeouts, type LastOutput } from '../sources/exec.ts'
import type { JournalDependencies } from './journal-reader.ts'
import { readLogText } from './log-text.ts'

/** What the agent has in memory when an alert fires. */
export interface Evidence {
  readonly snapshot: NodeSnapshot
  readonly outputs: readonly LastOutput[]
}

/** All readings of a node with 300 validators have 400 KB. */
const MAX_READING_LENGTH = 512 * 1024

/** The incident when its alerts fire. Its journals are still to be read. */
export const createIncident = async (
  { snapshot, outputs }: Evidence,
  given: Pick<Incident, 'id' | 'firedAt' | 'alerts'>,
): Promise<Incident> => {
  const { word, sentence, recovery, causes } = diagnose(snapshot)
  const { path, summary, left } = recovery
  const { readings } = await snapshot.export()
  const incident = {
    ...given,
    agent: snapshot.version,
    completedAt: null,
    diagnosis: { word, sentence, recovery: { path, summary, left }, causes },
    // Lines of other programs.
    tools: outputs.map((tool) => ({ ...tool, output: tool.output.split('\n').map(redactLine).join('\n') })),
    readings: Object.fromEntries(Object.entries(readings).map(([name, reading]) => [name, limited(reading)])),
    journals: rangesOf(given),
  }
  return parseIncident(JSON.stringify(redactFields(toApiJson(incident), () => undefined)))
}

const redactLine = (line: string): string => redactLog(line)

const limited = (reading: unknown): unknown => {
  const json = toApiJson(reading)
  const { length } = JSON.stringify(json)
  return length <= MAX_READING_LENGTH ? json : `left out: ${length} characters`
}

/** An alert when it fires, at this time in milliseconds since the epoch. */
export const describeAlert = (
  { alert, labels, summary, description, since }: RuleFinding,
  at: number,
): IncidentAlert => ({
  alert,
  labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, redact(redactDocument(value))])),
  summary,
  description: redact(redactDocument(description)),
  sinceAt: iso(since),
  firedAt: iso(at),
  endedAt: null,
})

const iso = (at: number): string => new Date(at).toISOString()

const BEFORE = minute
const AFTER = 30 * second

/**
 * The journals around the time at which the alert fired. A rule may wait for minutes before it fires: the ranges begin
 * before its condition became true, and if that is long ago they are also those around that time.
 */
const rangesOf = ({ firedAt, alerts }: Pick<Incident, 'firedAt' | 'alerts'>): readonly JournalRange[] => {
  const fired = Date.parse(firedAt)
  const since = Math.min(fired, ...alerts.map(({ sinceAt }) => Date.parse(sinceAt)))
  const around = (from: number, at: number): readonly JournalRange[] => [
    { fromAt: iso(from), toAt: iso(at), keep: 'newest', units: null },
    { fromAt: iso(at), toAt: iso(at + AFTER), keep: 'oldest', units: null },
  ]
  return fired - since <= BEFORE + AFTER
    ? around(since - BEFORE, fired)
    : [...around(since - BEFORE, since), ...around(fired - BEFORE, fired)]
}

/** A flood of a log must not displace the others: for each unit and range. */
const MAX_LINES = 5000
const MAX_LOG_BYTES = 512 * 1024
/** For all together. */
const MAX_ALL_LOG_BYTES = 6 * 1024 * 1024
const TIMEOUT = minute
/** The times of a journal have microseconds. */
const MICROSECOND = 0.001

interface JournalSources extends JournalDependencies {
  readonly units: readonly string[]
}

/** Reads a range of the journals of an incident, one unit after the other. Errors become a part of the result. */
export const readRange = async (
  { exec, clock, signal, units }: JournalSources,
  { fromAt, toAt, keep }: JournalRange,
  incident: Pick<Incident, 'journals'>,
): Promise<readonly UnitLog[]> => {
  const timed = createExecWithTimeouts(exec, clock)
  const read: UnitLog[] = []
  const known = incident.journals.flatMap((range) => range.units ?? [])
  for (const unit of units) {
    const left = MAX_ALL_LOG_BYTES - bytesOf(known) - bytesOf(read)
    const query = {
      unit,
      // A line at the time of the alert is in the range before it.
      since: Date.parse(fromAt) + (keep === 'oldest' ? MICROSECOND : 0),
      until: Date.parse(toAt),
      keep,
      maxLines: MAX_LINES,
      maxBytes: Math.min(MAX_LOG_BYTES, left),
    }
    try {
      const text = await withDeadline({ clock, signal }, TIMEOUT, (within) =>
        readLogText({ exec: timed, clock, signal: within.signal }, query),
      )
      read.push({ unit, ...text, error: null })
    } catch (error) {
      if (signal.aborted) return read
      read.push({ unit, lines: [], isCut: false, error: redact(redactDocument(asError(error).message)) })
    }
  }
  return read
}

const bytesOf = (logs: readonly UnitLog[]): number =>
  logs.reduce((sum, { lines }) => sum + lines.reduce((length, line) => length + Buffer.byteLength(line) + 1, 0), 0)
