import { redactedExcerpt } from './errors.ts'
import type { Recorder } from './metric.ts'

/** A value that is not in the closed list of which another program reports one: a state, a phase, a kind. */
export interface UnknownValue {
  readonly list: string
  readonly value: string
  /** The list of this version of the agent. */
  readonly expected: readonly string[]
}

/** The value as an unknown one, as an array of zero or one elements. A missing or empty value is not unknown. */
export const unknownValue = (
  list: string,
  value: string | number | bigint | null | undefined,
  expected: readonly string[],
): readonly UnknownValue[] => {
  const text = String(value ?? '')
  return text === '' || expected.includes(text) ? [] : [{ list, value: text, expected }]
}

/** Values of one list that are kept for the log. */
const KEPT = 3

/**
 * Counts unknown values like unparsed lines of their format, at each reading, so that ChainLogsIncomplete.format fires. The first
 * values of each list are kept for the log of the agent: one line for each, however often it is read.
 */
export const createUnknownValues = (recorder: Recorder, format: string) => {
  const kept = new Map<string, { readonly values: Set<string>; readonly expected: readonly string[] }>()
  return {
    add: (found: readonly UnknownValue[]): void => {
      recorder.count('chain_agent_lines_total', found.length, { format, result: 'unparsed' })
      for (const { list, value, expected } of found) {
        const { values } = kept.get(list) ?? { values: new Set() }
        if (values.size < KEPT) values.add(redactedExcerpt(value))
        kept.set(list, { values, expected })
      }
    },
    /** The states of a collector: list → its unknown values. */
    states: (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        [...kept].map(([list, { values, expected }]) => [
          `unknown value, ${list}`,
          `${[...values].join(', ')} (expected ${expected.join(', ')})`,
        ]),
      ),
  }
}
