import { SourceError } from '../core/errors.ts'
import type { Exec } from './exec.ts'
import { isNotPermitted, journalctlFailed, noJournal, notPermitted } from './journal-errors.ts'
import { createLineSplitter } from './lines.ts'

const FIELDS =
  'MESSAGE,PRIORITY,_SYSTEMD_UNIT,UNIT,OBJECT_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_PID,N_DROPPED,' +
  '_SYSTEMD_INVOCATION_ID,_LINE_BREAK,_STREAM_ID,MESSAGE_ID,INVOCATION_ID,UNIT_RESULT'

/** Options for entries as JSON. `--all`, because long messages are null without it. */
export const JOURNAL_OUTPUT_OPTIONS = ['--all', '-o', 'json', `--output-fields=${FIELDS}`]

/** The position of an entry in the journal. */
export interface JournalPosition {
  readonly cursor: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

interface JournalQueryDependencies<Entry> {
  readonly exec: Exec
  /** Throws if the line is not an entry. */
  readonly parse: (line: string) => Entry
}

/** Reads the newest matching entry; undefined if there is none. Throws a SourceError if the journal cannot be read. */
export const createNewestEntryReader =
  <Entry extends JournalPosition>({ exec, parse }: JournalQueryDependencies<Entry>) =>
  async (match: readonly string[], signal: AbortSignal): Promise<Entry | undefined> => {
    const args = ['--merge', '-n', '1', ...JOURNAL_OUTPUT_OPTIONS, ...match]
    // With --grep, exit code 1 without a message means "nothing matches"; with a message it is a failure.
    const program = { command: 'journalctl', args, answers: [0, 1] }
    const { exitCode, stdout, stderr } = await exec.run(program, signal)
    if (isNotPermitted(stderr)) throw notPermitted(stderr)
    if (/No journal files were found/.test(stderr)) throw noJournal(stderr)
    if (exitCode !== 0 && stderr.trim() !== '') throw journalctlFailed(stderr)
    const [line = ''] = stdout.split('\n')
    return line === '' ? undefined : parse(line)
  }

/** Reads the oldest matching entry in the journal. Throws a SourceError if there is none. */
export type ReadOldestEntry<Entry> = (match: readonly string[], signal: AbortSignal) => Promise<Entry>

/**
 * journalctl 252 has no option to print only the oldest entry. It is stopped after its first line, which it prints at
 * once (20 ms with a journal of 250 MB).
 */
export const createOldestEntryReader =
  <Entry>({ exec, parse }: JournalQueryDependencies<Entry>): ReadOldestEntry<Entry> =>
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
