import type { z } from 'zod'
import type { SampleIndex } from '../../core/sample-index.ts'
import type { Picture, Told } from '../../health/picture.ts'
import type { Tone } from '../../cli/terminal/style.ts'
import type { Fact } from './fact.ts'

/** What is known, as sections read it. */
export interface View {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The maker's word; the neutral one where it is not known. */
  readonly prefix: string
  readonly known: SampleIndex
  readonly picture: Picture
  told(collector: string): Told | undefined
  /** Whether it has a reading, and so knows even what it says nothing of. */
  hasTold(collector: string): boolean
  /** A reading by a schema that takes anything: what is missing is null. */
  reading<T>(collector: string, schema: z.ZodType<T>): T
}

/** Facts of one origin, and so of one age. */
export interface Group {
  /** The collector that brought them; null for what needs none. */
  readonly from: string | null
  /** Where it has them from: `the status report`. */
  readonly by: string
  readonly facts: (view: View) => readonly Fact[]
}

/** A line of the overview; null is unknown. */
export type Summary = { readonly text: string; readonly tone?: Tone | undefined } | null

export interface Section {
  /** As it is asked for, and in JSON. */
  readonly name: string
  /** What the overview calls it, where that is another word. */
  readonly label?: string
  /** Other words for it. */
  readonly also?: readonly string[]
  /** What it shows, for the help. */
  readonly about: string
  readonly groups: readonly Group[]
  /** A section without one has no line in the overview. */
  readonly summary?: (view: View) => Summary
}

export const createView = (picture: Picture): View => {
  const told = (collector: string): Told | undefined =>
    picture.collectors.find(({ name }) => name === collector)
  return {
    at: picture.at,
    prefix: picture.prefix ?? 'chain',
    known: picture.known,
    picture,
    told,
    hasTold: (collector) => (told(collector)?.reading ?? null) !== null,
    reading: (collector, schema) => schema.parse(told(collector)?.reading),
  }
}

/** Parts that are known, in one line; null where none is. */
export const joined = (parts: readonly (string | null | undefined)[], by = ', '): string | null =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(by) || null

/** Where the text is null, the summary is unknown. */
export const summary = (text: string | null, tone?: Tone): Summary =>
  text === null ? null : { text, tone }
