import type { Clock } from '../../core/clock.ts'
import { asError } from '../../core/outcome.ts'
import type { Exec } from '../../sources/exec.ts'
import { readJournal } from '../shared/journal-reader.ts'
import { shownLine } from '../logs/logs.ts'
import type { Members, Tally } from './members.ts'

interface Parts {
  readonly exec: Exec
  readonly clock: Clock
  readonly signal: AbortSignal
}

interface Wanted {
  readonly label: string
  readonly stretch: { readonly unit: string; readonly since: number }
  readonly members: Members
}

const MOST_LINES = 5000
const MOST_BYTES = 2 * 1024 * 1024
/** A line that is longer tells nothing that its beginning does not. */
const LONGEST = 16 * 1024

/** The newest lines of a service's log, without secrets, as a member; what hinders it stands in the manifest. */
export const gatherLog = async (parts: Parts, { label, stretch, members }: Wanted) => {
  const name = `logs/${label}.log`
  const redacted: Tally = {}
  const lines: string[] = []
  let bytes = 0
  try {
    for await (const { entries } of readJournal(parts, { ...stretch, newest: MOST_LINES })) {
      for (const entry of entries) {
        const { at, by, raw } = shownLine(entry, (kind) => {
          redacted[kind] = (redacted[kind] ?? 0) + 1
        })
        const cut = raw.length > LONGEST ? `${raw.slice(0, LONGEST)}\u2026 (cut)` : raw
        const line = `${new Date(at).toISOString()} ${by === null ? '' : `${by}: `}${cut}\n`
        lines.push(line)
        bytes += Buffer.byteLength(line)
      }
    }
  } catch (error) {
    parts.signal.throwIfAborted()
    members.leaveOut(name, asError(error).message)
    return
  }
  let first = 0
  while (bytes > MOST_BYTES) {
    bytes -= Buffer.byteLength(lines[first] ?? '')
    first += 1
  }
  if (lines.length === 0) members.leaveOut(name, `the journal has no line of ${stretch.unit}`)
  else members.log(name, lines.slice(first).join(''), redacted)
}
