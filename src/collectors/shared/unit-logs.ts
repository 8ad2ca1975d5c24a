import { type Clock, withDeadline } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { parseUnits, type Unit } from '../../parsers/systemctl.ts'
import type { Exec } from '../../sources/exec.ts'

export type UnitLog = ReturnType<typeof logOf>
export type UnitLogs = ReturnType<typeof createUnitLogs>

export const LOG_PROPERTIES = ['Id', 'ActiveState', 'ExecMainStartTimestamp', 'LogNamespace', 'StandardOutput'] as const
/** Between two reads of a unit. */
const READ_EVERY_MS = 50 * second
/** The other reader reads every minute. */
const TAKEN_FOR_MS = 70 * second
const RETRY_AFTER_MS = 10 * second
/** Readers of the journal wait for the answer, and read the default journal without it. */
const TIMEOUT_MS = 2 * second

/** Reads the settings of each unit from systemd at most once in 50 s, those of all units with one systemctl. */
export const createUnitLogs = ({ exec, clock }: { readonly exec: Exec; readonly clock: Clock }) => {
  const reads = new Map<string, { readonly log: Promise<UnitLog | undefined>; dueAt: number }>()

  /** In the order of the units, as systemctl prints them. */
  const show = async (units: readonly string[], signal: AbortSignal): Promise<readonly UnitLog[]> => {
    const args = ['show', '--timestamp=us+utc', `--property=${LOG_PROPERTIES.join(',')}`, ...units]
    const { stdout } = await withDeadline({ clock, signal }, TIMEOUT_MS, (context) =>
      exec.run({ command: 'systemctl', args }, context.signal),
    )
    return parseUnits(stdout).map(logOf)
  }

  const refresh = (units: readonly string[], signal: AbortSignal): void => {
    const shown = show(units, signal).catch(ifUnreadable)
    for (const [at, unit] of units.entries()) {
      const before = reads.get(unit)?.log
      const read = {
        // Without an answer, the last one is kept.
        log: shown.then(async (logs) => {
          if (!logs) read.dueAt = clock.elapsed() + RETRY_AFTER_MS
          return logs?.[at] ?? (await before)
        }),
        dueAt: clock.elapsed() + READ_EVERY_MS,
      }
      reads.set(unit, read)
    }
  }

  const readAll = async (units: readonly string[], signal: AbortSignal): Promise<readonly (UnitLog | undefined)[]> => {
    const isDue = units.some((unit) => (reads.get(unit)?.dueAt ?? -Infinity) <= clock.elapsed())
    if (isDue) refresh([...new Set([...reads.keys(), ...units])], signal)
    return Promise.all(units.map(async (unit) => reads.get(unit)?.log))
  }

  return {
    /** The log of a unit; undefined if systemd has not answered. */
    of: async (unit: string, signal: AbortSignal) => (await readAll([unit], signal))[0],
    /** The arguments of journalctl without which it does not read the entries of these units. */
    scope: async (units: readonly string[], signal: AbortSignal): Promise<readonly string[]> => {
      const logs = await readAll(units, signal)
      const [one, ...others] = new Set(logs.flatMap((log) => log?.namespace ?? []))
      if (one === undefined) return []
      // `+`: in addition to the default journal, which has the entries of systemd about the unit.
      return [others.length === 0 ? `--namespace=+${one}` : '--namespace=*']
    },
    /** Takes what another reader of systemd has read with `LOG_PROPERTIES`: they are not read again until its next one is late. */
    take: (units: ReadonlyMap<string, Unit>): void => {
      const dueAt = clock.elapsed() + TAKEN_FOR_MS
      for (const [unit, shown] of units) reads.set(unit, { log: Promise.resolve(logOf(shown)), dueAt })
    },
  }
}

/** Where systemd sends the output of a unit. */
const logOf = ({ activeState, startedAt, logNamespace, standardOutput }: Unit) => ({
  /** The journal namespace; null for the default one. */
  namespace: logNamespace,
  /** `StandardOutput=` as systemctl shows it: the type, without a path; null if it is not shown. */
  output: standardOutput,
  /** When the main process was last started, in milliseconds since the epoch; null before its first start. */
  startedAt,
  isActive: activeState === 'active' || activeState === 'reloading',
})

/** For a journal without namespaces: a recording. */
export const NO_UNIT_LOGS: UnitLogs = {
  of: () => Promise.resolve(undefined),
  scope: () => Promise.resolve([]),
  take: () => undefined,
}

/** For a source that is read again: an answer that did not come or cannot be parsed is unknown. */
export const ifUnreadable = (error: unknown): undefined => {
  if (!(error instanceof SourceError || error instanceof ParseError)) throw error
}
