import { execPrinting } from './exec-printing.ts'
import type { SteppedEntry } from './stepped-journal.ts'

const valueOf = (args: readonly string[], name: string): string | undefined =>
  args.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)

/** A time in microseconds, as `@seconds.micros`. */
const microsOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Math.round(Number(text.slice(1)) * 1_000_000)

/**
 * journalctl of systemd 252 on files whose times increase: it finds the start in each file, merges the files in the
 * order in which they were written, and stops at the first entry outside the range.
 */
const printEntries = (
  files: readonly (readonly SteppedEntry[])[],
  args: readonly string[],
): readonly SteppedEntry[] => {
  const since = microsOf(valueOf(args, '--since'))
  const until = microsOf(valueOf(args, '--until'))
  const cursor = valueOf(args, '--cursor')
  if (cursor !== undefined && since !== undefined) throw new Error('--since excludes --cursor')
  const grep = valueOf(args, '--grep')
  const isReverse = args.includes('--reverse')
  const at = (entry: SteppedEntry): number => entry.at * 1000
  const all = files.flat()
  let entries = isReverse
    ? files.flatMap((file) => file.filter((entry) => until === undefined || at(entry) <= until)).toReversed()
    : files.flatMap((file) => file.filter((entry) => since === undefined || at(entry) >= since))
  if (cursor !== undefined) {
    const start = all.findIndex((entry) => entry.cursor === cursor)
    entries = isReverse ? all.slice(0, start + 1).toReversed() : all.slice(start)
  }
  const isOutside = (entry: SteppedEntry): boolean =>
    isReverse ? since !== undefined && at(entry) < since : until !== undefined && at(entry) > until
  const end = entries.findIndex(isOutside)
  const shown = entries.slice(0, end < 0 ? undefined : end).filter(({ message }) => message.includes(grep ?? ''))
  const count = args.indexOf('-n')
  if (count < 0) return shown
  const most = Number(args[count + 1])
  return isReverse ? shown.slice(0, most) : shown.slice(-most)
}

/** An Exec with that journalctl. `calls` has the arguments of each run. */
export const fakeJournalctl = (files: readonly (readonly SteppedEntry[])[]) => {
  const calls: (readonly string[])[] = []
  const print = (args: readonly string[]): string => {
    calls.push(args)
    return printEntries(files, args)
      .map(({ line }) => `${line}\n`)
      .join('')
  }
  return { exec: execPrinting(({ args }) => print(args)), calls }
}
