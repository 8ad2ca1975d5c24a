import { z } from 'zod'
import type { SampleIndex } from '../core/sample-index.ts'

/** A moment in a reading: RFC 3339, read as milliseconds since the epoch. */
export const timestamp = z.iso.datetime().transform((text) => Date.parse(text))

/** What one collector came to, as the running agent or we ourselves tell it. */
export interface Told {
  readonly name: string
  readonly help: string
  readonly enabled: boolean
  /** Null where no attempt has ended yet. */
  readonly up: boolean | null
  /** Milliseconds since the epoch; null for never. */
  readonly lastSuccessAt: number | null
  /** Of the last attempt, where that failed. */
  readonly error: string | null
  /** As JSON: moments are RFC 3339, 64-bit integers decimal strings, unknown is null. */
  readonly reading: unknown
}

/** All that is known of a node at one moment. */
export interface Picture {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Who told it: the agent that runs here, or the node itself, asked once. */
  readonly origin: 'agent' | 'node'
  /** Of the agent that told it. */
  readonly version: string
  /** The maker's word before units and tools; null until something has told it. */
  readonly prefix: string | null
  readonly collectors: readonly Told[]
  readonly known: SampleIndex
  /** What /metrics says at this moment. */
  readonly metrics: string
}
