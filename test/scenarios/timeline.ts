import { parseDuration } from '../../src/core/units.ts'
import type { Scenario } from '../../simulator/scenario/scenario.ts'

/** Every scenario has begun by then, and each lasts longer. */
export const GOLDEN_S = 60
export const PAGE_S = 90
/** In `isolated` the newest blocks arrive at the 90th second: not at a moment between two states. */
export const COMMANDS_S = 97
/** How long after the last line of a scenario it is followed. */
const AFTERMATH_S = 75
export const LONGEST_S = 260

/** Seconds after the fault, and after the last line of the scenario, at which the surfaces are compared. */
const AFTER_FAULT_S = [5, 15, 40]
const AFTER_END_S = 60
/** By then most failures that have a cause are detected. */
const CAUSE_S = 40
/** The others: the height, or the finalized one, has not changed for a minute. */
const DETECTED_S: ReadonlyMap<string, number> = new Map([
  ['network-halted', 120],
  ['finality-stalled', 120],
])

/** A consequence pages later than the cause, in seconds. */
const PAGES_S: Readonly<Record<string, number>> = { diverged: 125 }

/** When a scenario does what, in seconds of the scenario. */
export interface Timeline {
  /** The first line. */
  readonly fault: number
  /** When the surfaces are compared. */
  readonly moments: readonly number[]
  /** When the first cause of the health verdict is expected. */
  readonly cause: number
  readonly end: number
}

export const timelineOf = (scenario: Scenario): Timeline => {
  const { name, steps } = scenario
  const times = steps.map(({ afterMs }) => afterMs / 1000)
  const fault = Math.min(LONGEST_S, ...times)
  const cause = fault + (DETECTED_S.get(name) ?? CAUSE_S)
  const moments =
    steps.length === 0
      ? []
      : [...new Set([...AFTER_FAULT_S.map((after) => fault + after), cause, Math.max(...times) + AFTER_END_S])]
          .filter((second) => second <= LONGEST_S)
          .toSorted((a, b) => a - b)
  return {
    fault,
    moments,
    cause,
    end: Math.min(
      LONGEST_S,
      Math.max(
        COMMANDS_S,
        PAGES_S[name] ?? 0,
        ...moments,
        ...steps.map(({ afterMs, text }) => (afterMs + lasting(text)) / 1000 + AFTERMATH_S),
      ),
    ),
  }
}

/** `node syncs 3m` lasts, in milliseconds. */
const lasting = (text: string): number => parseDuration(text.split(/\s+/).at(-1) ?? '') ?? 0
