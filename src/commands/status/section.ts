import type { z } from 'zod'
import type { SampleIndex } from '../../core/sample-index.ts'
import type { NodeSnapshot, CollectorStatus } from '../../health/snapshot.ts'
import type { Tone } from '../../cli/terminal/style.ts'
import type { Fact } from './fact.ts'
import { oneLine } from './format.ts'

/** The data of a node, as sections read it. */
export interface View {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The name prefix; `chain` if it is not known. */
  readonly prefix: string
  readonly known: SampleIndex
  readonly snapshot: NodeSnapshot
  collector(collector: string): CollectorStatus | undefined
  /** True once the collector has a reading: absent fields are then known to be absent. */
  hasReading(collector: string): boolean
  /** A reading, parsed by a schema that accepts anything: missing fields are null. */
  reading<T>(collector: string, schema: z.ZodType<T>): T
}

/** Facts from one source, and therefore of one age. */
export interface Group {
  /** The collector that provides them; null if none is needed. */
  readonly collector: string | null
  /** The source as text: `the status report`. */
  readonly source: string
  readonly facts: (view: View) => readonly Fact[]
}

/** A line of the overview; null is unknown. */
export type Summary = { readonly text: string; readonly tone?: Tone | undefined } | null

export interface Section {
  /** The name in arguments and in JSON. */
  readonly name: string
  /** The label in the overview, if it differs from the name. */
  readonly label?: string
  /** Further names in arguments. */
  readonly aliases?: readonly string[]
  readonly groups: readonly Group[]
  /** A section without a summary has no line in the overview. */
  readonly summary?: (view: View) => Summary
}

export const createView = (snapshot: NodeSnapshot): View => {
  const statusOf = (collector: string): CollectorStatus | undefined =>
    snapshot.collectors.find(({ name }) => name === collector)
  return {
    at: snapshot.at,
    prefix: snapshot.prefix ?? 'chain',
    known: snapshot.known,
    snapshot,
    collector: statusOf,
    hasReading: (collector) => (statusOf(collector)?.reading ?? null) !== null,
    reading: (collector, schema) => schema.parse(statusOf(collector)?.reading),
  }
}

/** Joins the known parts; null if there are none. */
export const joined = (parts: readonly (string | null | undefined)[], by = ', '): string | null =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(by) || null

/** If the text is null, the summary is unknown. */
export const summary = (text: string | null, tone?: Tone): Summary => (text === null ? null : { text, tone })

/** Why a collector has no reading, or no new one, in one line; null if it has. */
export const whyUnknown = (status: CollectorStatus | undefined): string | null => {
  if (status === undefined) return 'the agent has no such collector'
  const { enabled, up, error, reading } = status
  if (!enabled) return 'disabled in the configuration, or nothing to read'
  if (error !== null) {
    const isOld = reading !== null && reading !== undefined
    return isOld ? `${oneLine(error)} (showing the previous reading)` : oneLine(error)
  }
  if (up === null) return 'the first attempt has not finished'
  return up ? null : 'stale: no reading within the expected time'
}
