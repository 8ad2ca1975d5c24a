import { LINE_RESULTS } from '../../domain/log-state.ts'
import { ParseError } from '../../core/errors.ts'
import type { Recorder } from '../../core/metric.ts'
import { hour } from '../../core/units.ts'
import type { JournalEntry } from '../../parsers/journal.ts'

/**
 * Keeps one unparsed line for the log of the agent, replaced at most once per hour. All unparsed lines are counted;
 * after an upgrade of the node every line may have a new format, and must not become a log line each.
 */
export const createUnparsedLine = () => {
  let kept: { readonly at: number; readonly text: string } | undefined
  return {
    /** `at`: milliseconds since the epoch. */
    add: (error: ParseError, at: number): void => {
      if (kept === undefined || at - kept.at >= hour) kept = { at, text: error.message }
    },
    /** Null while every line was parsed. */
    get: (): string | null => kept?.text ?? null,
  }
}

/**
 * Parses the lines of one format and counts the results: a new version of the format shows there first. An unparsed
 * line returns null, like a line of another format; a ParseError is not thrown.
 */
export const createLineReader = <Event>(recorder: Recorder, format: string, parse: (line: string) => Event | null) => {
  const unparsed = createUnparsedLine()
  const count = (result: (typeof LINE_RESULTS)[number], by: 0 | 1): void => {
    recorder.count('chain_agent_lines_total', by, { format, result })
  }
  return {
    /** Creates the counters with 0, once the stream is available. */
    initialize: (): void => {
      for (const result of LINE_RESULTS) count(result, 0)
    },
    /** `by`: 0 for a line from before the agent was first started. `at`: milliseconds since the epoch. */
    read: (line: string, { by, at }: { readonly by: 0 | 1; readonly at: number }): Event | null => {
      try {
        const event = parse(line)
        count(event === null ? 'ignored' : 'parsed', by)
        return event
      } catch (error) {
        if (!(error instanceof ParseError)) throw error
        count('unparsed', by)
        unparsed.add(error, at)
        return null
      }
    },
    /** An unparsed line for the log of the agent; null while there is none. */
    unparsed: unparsed.get,
  }
}

/** Whether systemd or journald wrote the entry about the unit. `-u` selects these in addition to the unit's own. */
export const isAboutUnit = (fields: JournalEntry['fields']): boolean =>
  fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields

/** The number of messages that journald dropped according to the message; 0 for other messages. */
export const droppedMessages = (message: string, fields: JournalEntry['fields']): number => {
  const [, reported] = /^Suppressed (\d{1,15}) messages from /.exec(message) ?? []
  if (reported === undefined) return 0
  const { N_DROPPED: dropped = reported } = fields
  return /^\d{1,15}$/.test(dropped) ? Number(dropped) : Number(reported)
}
