import { SourceError } from '../core/errors.ts'
import type { Exec } from './exec.ts'
import { createLineSplitter } from './lines.ts'

interface Parts<Entry> {
  readonly exec: Exec
  /** Throws for a line that is no entry. */
  readonly parse: (line: string) => Entry
}

/** The oldest entry that the journal still holds for these matches. Throws a SourceError where there is none. */
export type ReadOldest<Entry> = (match: readonly string[], signal: AbortSignal) => Promise<Entry>

/**
 * journalctl 252 knows no way to ask for the oldest entry alone: it is stopped after its first line,
 * which it has at once (20 ms where the journal has 250 MB).
 */
export const createReadOldest =
  <Entry>({ exec, parse }: Parts<Entry>): ReadOldest<Entry> =>
  async (match, signal) => {
    const args = ['--merge', '-o', 'json', '--output-fields=PRIORITY', ...match]
    const split = createLineSplitter()
    for await (const chunk of exec.stream({ command: 'journalctl', args }, signal)) {
      const [line] = split(chunk)
      if (line !== undefined) return parse(line)
    }
    throw new SourceError({
      doing: 'find the oldest entry of the journal',
      happened: 'the agent is ending',
    })
  }
