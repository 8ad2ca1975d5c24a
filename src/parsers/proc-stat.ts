import { ParseError } from '../core/errors.ts'
import { parseU64 } from '../core/units.ts'

/** What `/proc/stat` tells of all processors together, in ticks since the boot, and of the boot. */
export interface KernelStat {
  readonly busy: bigint
  readonly total: bigint
  /** Seconds since the epoch. */
  readonly bootedAt: bigint
}

export const parseKernelStat = (text: string): KernelStat => {
  const [, line = ''] = /^cpu\s+(.+)$/m.exec(text) ?? []
  const ticks = line.trim().split(/\s+/).map(parseU64)
  const bootedAt = parseU64(/^btime (\d+)$/m.exec(text)?.[1] ?? '')
  // user nice system idle iowait irq softirq steal; the guests behind them are within user and nice.
  const [user, nice, system, idle, iowait, irq = 0n, softirq = 0n, steal = 0n] = ticks
  if (
    user === undefined ||
    nice === undefined ||
    system === undefined ||
    idle === undefined ||
    iowait === undefined ||
    bootedAt === undefined
  ) {
    throw new ParseError('the statistics of the kernel', 'a line of cpu, and btime', text)
  }
  const busy = user + nice + system + irq + softirq + steal
  return { busy, total: busy + idle + iowait, bootedAt }
}
