import { readFile } from 'node:fs/promises'
import { parseDuration } from '../../src/core/units.ts'
import type { Scenario } from '../../simulator/scenario/scenario.ts'

/** The healthy time before a scenario, in seconds: a multiple of the interval of the samples. */
export const BEFORE_S = 180
/** Every scenario has begun by then, and each lasts longer. */
export const GOLDEN_S = 60
export const PAGE_S = 90
/** In `isolated` the newest blocks arrive at the 90th second: not at a moment between two states. */
export const COMMANDS_S = 95
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

/** How long after the first fault `what-changed` is asked, in seconds. */
const CHANGES_S = 60
/** When the failure is first read, in seconds after the first fault. */
const LATER: Readonly<Record<string, number>> = {
  // Once a minute.
  'disk-filling': 90,
  'timeline-missing': 90,
  'journal-evicted': 90,
  // The followers fail after six heartbeats and the timeout of the reader.
  'journal-frozen': 75,
  'no-journal-permission': 75,
}
/** The first fault that is no line of the scenario, in seconds: a day before the fork the running version counts. */
const BEGINS: Readonly<Record<string, number>> = { 'upgrade-missed': 30 }

/** When a scenario does what, in seconds of the scenario. */
export interface Timeline {
  /** The lines of the scenario after a healthy time, or its name if it starts at a fixed time. */
  readonly text: string
  /** The second of these lines at which the scenario begins. */
  readonly start: number
  /** The first line. */
  readonly fault: number
  /** When the surfaces are compared. */
  readonly moments: readonly number[]
  /** When the first cause of the health verdict is expected. */
  readonly cause: number
  /** When `what-changed` is asked, and for how long before. */
  readonly changes: { readonly second: number; readonly span: number }
  readonly end: number
}

export const timelineOf = async (scenario: Scenario): Promise<Timeline> => {
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
  // The fork of this scenario has a fixed distance from its beginning.
  const isBound = name === 'upgrade-missed'
  const begin = BEGINS[name] ?? times.find((second) => second > 0) ?? 0
  const span = LATER[name] ?? CHANGES_S
  return {
    text: isBound ? name : shifted(await readFile(`scenarios/${name}.scenario`, 'utf8'), begin),
    start: isBound ? 0 : BEFORE_S,
    fault,
    moments,
    cause,
    changes: { second: begin + span, span },
    end: Math.min(
      LONGEST_S,
      Math.max(
        COMMANDS_S + 1,
        begin + span,
        ...moments,
        ...steps.map(({ afterMs, text }) => (afterMs + lasting(text)) / 1000 + AFTERMATH_S),
      ),
    ),
  }
}

/** `node syncs 3m` lasts, in milliseconds. */
const lasting = (text: string): number => parseDuration(text.split(/\s+/).at(-1) ?? '') ?? 0

/** The scenario after a healthy time. What has always been so stays at its beginning, if a fault follows. */
const shifted = (text: string, begin: number): string =>
  text.replaceAll(/^(\d+m?s|\d+m) +(?=\S)/gm, (_, time: string) => {
    const at = (parseDuration(time) ?? 0) / 1000
    return at === 0 && begin > 0 ? '0s ' : `${at + BEFORE_S}s `
  })
