import { z } from 'zod'
import type { Recorder } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import { createUnknownValues, unknownValue } from '../../core/unknown-values.ts'
import { EXIT_RESULTS } from './definition.ts'
import { createRecentSet } from '../shared/recent-set.ts'

/** A journal entry of systemd about a unit. */
interface UnitEntry {
  readonly service: string
  readonly invocation: string
  /** From before the agent was first started: remembered, and not counted. */
  readonly isOld: boolean
}

interface PolledUnit {
  readonly service: string
  readonly invocation: string | null
  readonly result: string | null
}

/** Ids of systemd's message catalogue (`journalctl --catalog`), stable across versions and languages. */
const STARTED = '39f53479d3a045ac8e11786248231fbf'
const SUCCEEDED = '7ad2d189f7e94e70a38c781354912448'
const FAILED = 'd9b373ed55a64feb8242e02dbe79a49c'

/** The journalctl arguments for starts and exits of units. systemd writes them under its own unit. */
export const lifecycleMatch = (units: Iterable<string>): readonly string[] => [
  '_PID=1',
  ...[STARTED, SUCCEEDED, FAILED].map((id) => `MESSAGE_ID=${id}`),
  ...[...units].map((unit) => `UNIT=${unit}`),
]

/** The start or exit in the fields of an entry; `result` is null for a start. Undefined for other entries. */
export const lifecycleEntry = (fields: Readonly<Record<string, string>>) => {
  const { UNIT: unit, INVOCATION_ID: invocation, MESSAGE_ID: id, UNIT_RESULT: reported = 'other' } = fields
  if (unit === undefined || invocation === undefined) return undefined
  const result = id === STARTED ? null : id === SUCCEEDED ? 'success' : id === FAILED ? reported : undefined
  return result === undefined ? undefined : { unit, invocation, result }
}

/** Those of systemd 258; the rare ones are counted as `other`. */
const KNOWN_RESULTS: readonly string[] = [
  ...EXIT_RESULTS,
  'watchdog',
  'resources',
  'protocol',
  'start-limit-hit',
  'exec-condition',
]

/** Number of runs to remember: enough for a unit that restarts every second for minutes. */
const MAX_RUNS = 500

const snapshotSchema = z.object({ starts: z.array(z.string()), ends: z.array(z.string()) })

export type LifecycleCounters = ReturnType<typeof createLifecycleCounters>

/**
 * Counters of starts and exits of units. There are two sources, the poll of systemctl and the journal entries of
 * systemd; each run of a unit has an invocation id, so each is counted once. The journal also contains the runs between
 * two polls; the poll works without permission to read the journal.
 */
export const createLifecycleCounters = (recorder: Recorder, services: readonly string[]) => {
  const starts = createRecentSet(MAX_RUNS)
  const ends = createRecentSet(MAX_RUNS)
  const lastPolled = new Map<string, { invocation: string | null; readonly first: string | null }>()
  const unknownValues = createUnknownValues(recorder, 'systemctl')
  let isInitialized = false

  const countStart = (service: string, invocation: string, by: 0 | 1): void => {
    if (starts.add(invocation)) recorder.count('chain_service_starts_total', by, { service })
  }
  const countExit = (service: string, invocation: string, { by, reported }: { by: 0 | 1; reported: string }): void => {
    if (!ends.add(invocation)) return
    const result = EXIT_RESULTS.find((known) => known === reported) ?? 'other'
    recorder.count('chain_service_exits_total', by, { service, result })
    if (by === 1) unknownValues.add(unknownValue('Result of systemd', reported, KNOWN_RESULTS))
  }

  /** Creates the counters with 0, once a source is available; before that, the values are unknown. */
  const initialize = (): void => {
    if (isInitialized) return
    isInitialized = true
    unknownValues.add([])
    for (const service of services) {
      recorder.count('chain_service_starts_total', 0, { service })
      for (const result of EXIT_RESULTS) recorder.count('chain_service_exits_total', 0, { service, result })
    }
  }

  return {
    initialize,
    /** Adds a unit as polled. The first poll of a service counts neither a start nor an exit. */
    polled: ({ service, invocation, result }: PolledUnit): void => {
      initialize()
      const before = lastPolled.get(service)
      if (!before) {
        // An exit before the first poll is counted if the journal reports it as new.
        lastPolled.set(service, { invocation, first: result === null ? null : invocation })
        return
      }
      if (invocation === null) return // systemd does not keep the last run of an unloaded unit
      if (invocation !== before.invocation) countStart(service, invocation, 1)
      before.invocation = invocation
      if (result !== null && invocation !== before.first) countExit(service, invocation, { by: 1, reported: result })
    },
    started: ({ service, invocation, isOld }: UnitEntry): void => countStart(service, invocation, isOld ? 0 : 1),
    exited: ({ service, invocation, result, isOld }: UnitEntry & { readonly result: string }): void =>
      countExit(service, invocation, { by: isOld ? 0 : 1, reported: result }),
    /** Results that no known version of systemd reports, for the log of the agent. */
    unknownResults: unknownValues.states,
    /** State that must survive a restart of the agent. */
    snapshot: () => ({ starts: starts.all(), ends: ends.all() }),
    restore: (snapshot: unknown): void => {
      const { data } = snapshotSchema.safeParse(snapshot)
      for (const invocation of data?.starts ?? []) starts.add(invocation)
      for (const invocation of data?.ends ?? []) ends.add(invocation)
    },
  }
}

interface RunningUnit {
  readonly activeState: string
  readonly invocation: string | null
  readonly startedAt: number | null
}

/** Starts further apart than this are not one start of the node. Used until the agent has read a start itself. */
const ONE_START_MS = 2 * minute

/**
 * Detects that consensus was restarted and execution was not: execution then receives blocks that it has already
 * executed, and is known to exit on an assertion. The function returns null until both have been running, and true
 * until execution is restarted, too.
 */
export const createPartialRestart = () => {
  let before: { readonly bft: string; readonly execution: string } | undefined
  let isPartial: boolean | null = null
  return (bft: RunningUnit | undefined, execution: RunningUnit | undefined): boolean | null => {
    if (!isRunning(bft) || !isRunning(execution)) return isPartial
    const now = { bft: bft.invocation, execution: execution.invocation }
    if (!before) isPartial = bft.startedAt - execution.startedAt > ONE_START_MS
    else if (now.execution !== before.execution) isPartial = false
    else if (now.bft !== before.bft) isPartial = true
    before = now
    return isPartial
  }
}

const isRunning = (
  unit: RunningUnit | undefined,
): unit is { activeState: 'active'; invocation: string; startedAt: number } =>
  unit?.activeState === 'active' && unit.invocation !== null && unit.startedAt !== null
