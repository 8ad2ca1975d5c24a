import type { ParseError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'

const HOUR = 60 * minute

/**
 * Remembers a line that was not understood, for the log: one an hour. All are counted; a node that was
 * upgraded may speak another version from then on, and its every line must not become one of ours.
 */
export const createDrift = () => {
  let told: { readonly at: number; readonly text: string } | undefined
  return {
    /** `at`: milliseconds since the epoch. */
    saw: (error: ParseError, at: number): void => {
      if (told === undefined || at - told.at >= HOUR) told = { at, text: error.message }
    },
    /** Null while everything was understood. */
    said: (): string | null => told?.text ?? null,
  }
}
