import type { Exec } from './exec.ts'
import { failed, noJournal, notPermitted } from './journal-errors.ts'

const FIELDS =
  'MESSAGE,PRIORITY,_SYSTEMD_UNIT,UNIT,OBJECT_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_PID,N_DROPPED,' +
  '_SYSTEMD_INVOCATION_ID,_LINE_BREAK,_STREAM_ID,MESSAGE_ID,INVOCATION_ID,UNIT_RESULT'

/** Entries as JSON. `--all` because long messages come as null without it. */
export const FORMAT = ['--all', '-o', 'json', `--output-fields=${FIELDS}`]

/** All that an entry must have for us to know our place. */
export interface Placed {
  readonly cursor: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

interface Parts<Entry> {
  readonly exec: Exec
  readonly parse: (line: string) => Entry
}

/** The newest entry of all; undefined when there is none. Fails where the journal may not be read. */
export const createNewest =
  <Entry extends Placed>({ exec, parse }: Parts<Entry>) =>
  async (match: readonly string[], signal: AbortSignal): Promise<Entry | undefined> => {
    const args = ['--merge', '-n', '1', ...FORMAT, ...match]
    // With --grep, 1 and not a word is "nothing matches"; with words it is a failure.
    const program = { command: 'journalctl', args, answers: [0, 1] }
    const { exitCode, stdout, stderr } = await exec.run(program, signal)
    if (/not seeing messages|insufficient permissions/i.test(stderr)) throw notPermitted(stderr)
    if (/No journal files were found/.test(stderr)) throw noJournal(stderr)
    if (exitCode !== 0 && stderr.trim() !== '') throw failed(stderr)
    const [line = ''] = stdout.split('\n')
    return line === '' ? undefined : parse(line)
  }
