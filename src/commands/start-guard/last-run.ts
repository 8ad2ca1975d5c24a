import { SourceError } from '../../core/errors.ts'
import { minute, second } from '../../core/units.ts'
import { parseJournalEntry } from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createFileTree } from '../../sources/file-tree.ts'
import { JOURNAL_OUTPUT_OPTIONS } from '../../sources/journal.ts'

/** The last run of consensus on this host, by the clock that shows `now`. Own blocks are not later. */
export type LastRunAt = (now: number) => number

export interface Boot {
  /** Without dashes, as in the journal. */
  readonly id: string
  /** In milliseconds. */
  readonly uptime: number
}

export const readBoot = async (procfs: string): Promise<Boot> => {
  const { read } = createFileTree(procfs)
  const [id, uptime] = await Promise.all([read('sys/kernel/random/boot_id'), read('uptime')])
  return { id: (id ?? '').trim().replaceAll('-', ''), uptime: Number.parseFloat(uptime ?? '0') * second }
}

/** When the unit was active last, in milliseconds since the boot: a refused start does not change it. 0: not in this boot. */
export const readActiveExit = async (
  { exec, unit }: { readonly exec: Exec; readonly unit: string },
  signal: AbortSignal,
): Promise<number> => {
  const args = ['show', '--property=ActiveExitTimestampMonotonic', '--value', unit]
  const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
  return /^\d+$/.test(stdout.trim()) ? Number(stdout) / 1000 : 0
}

/** The log of consensus is JSON. systemd forgets a unit that is neither enabled nor failed; the journal has its lines. */
const OF_A_RUN = /^\{|: (?:Main process exited|Deactivated successfully)/
/** After a power cut the journal may lack what journald had not written: it writes every five minutes. */
const SYNC_MS = 5 * minute

/** In this boot by its age, as the clock may have been set; else the end of the boot before. Throws a SourceError. */
export const readLastRun = async (
  { exec, unit, activeExit }: { readonly exec: Exec; readonly unit: string; readonly activeExit: number },
  { id, uptime }: Boot,
  signal: AbortSignal,
): Promise<LastRunAt> => {
  const read = async (answers: readonly number[], ...match: readonly string[]) => {
    const program = { command: 'journalctl', args: [...JOURNAL_OUTPUT_OPTIONS, ...match], answers }
    const { stdout } = await exec.run(program, signal)
    return stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map(parseJournalEntry)
  }
  // A journal that is not written to any more does not show when a run ended.
  const [newest] = await read([0], '-n', '1')
  if (newest?.boot !== id || uptime - (newest.monotonic ?? 0) > minute)
    throw new SourceError({ doing: 'find the last run', happened: 'the journal has no entry of the last minute' })
  const lines = await read([0], '-n', '200', `_SYSTEMD_UNIT=${unit}`, '+', `UNIT=${unit}`)
  const ofRun = lines.findLast(({ boot, message }) => boot === id && OF_A_RUN.test(message ?? ''))
  const ended = Math.max(activeExit, ofRun?.monotonic ?? 0)
  if (ended > 0) return (now) => now - Math.max(0, uptime - ended)
  // Exit code 1: the journal has no boot before.
  const [before] = await read([0, 1], '--boot=-1', '-n', '1')
  return (now) => Math.min(now - uptime, (before?.at ?? Infinity) + SYNC_MS)
}
