import { withinBounds } from '../../core/bounds.ts'
import { parseU64 } from '../../core/units.ts'
import type { Unit } from '../../parsers/systemctl.ts'
import type { UnitWatch } from '../../sources/unit-watch.ts'

/** What a control group uses; null for what it does not report. */
interface Usage {
  readonly memoryBytes: bigint | null
  readonly cpuMicroseconds: bigint | null
  readonly tasks: bigint | null
}

/** By control group. */
export type Usages = ReadonlyMap<string, Usage>

/** Reads the files from which systemd has its figures. */
export const readUsages = (units: readonly Unit[], watch: UnitWatch): Usages =>
  new Map(
    units.flatMap(({ controlGroup }) => {
      if (controlGroup === null) return []
      const { memory, cpu, tasks } = watch.usage(controlGroup)
      const usage = {
        memoryBytes: withinBounds('bytes', parseU64(memory?.trim() ?? '')),
        cpuMicroseconds: parseU64(/^usage_usec (\d+)$/m.exec(cpu ?? '')?.[1] ?? '') ?? null,
        tasks: withinBounds('tasks', parseU64(tasks?.trim() ?? '')),
      }
      return [[controlGroup, usage]]
    }),
  )

/**
 * The figures that systemctl would show now. systemd subtracts from the CPU time of a control group what it had used when
 * the unit was started (`unit_get_cpu_usage` in src/core/cgroup.c), so the CPU time since `shown` is added to that of
 * `unit`. What systemctl did not show stays unknown: its accounting is off.
 */
export const withUsage = <Shown extends Unit>(unit: Shown, shown: Usages, now: Usages): Shown => {
  const [before, after] = [shown.get(unit.controlGroup ?? ''), now.get(unit.controlGroup ?? '')]
  const [from, to] = [before?.cpuMicroseconds ?? null, after?.cpuMicroseconds ?? null]
  const added = from === null || to === null || to < from ? 0 : Number(to - from) / 1e6
  return {
    ...unit,
    memoryBytes: unit.memoryBytes === null ? null : (after?.memoryBytes ?? unit.memoryBytes),
    cpuSeconds: unit.cpuSeconds === null ? null : unit.cpuSeconds + added,
    tasks: unit.tasks === null ? null : (after?.tasks ?? unit.tasks),
  }
}
