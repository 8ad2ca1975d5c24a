import { ParseError } from '../../core/errors.ts'
import type { Recorder } from '../../core/recorder.ts'
import { LINE_RESULTS } from '../../core/agent-metrics.ts'
import { createDrift } from './drift.ts'

interface Line {
  /** 0 for a line from before the agent began. */
  readonly by: 0 | 1
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * Reads the lines of one format, and counts how they were understood: drift shows there first. What
 * looks like ours and is not understood is null, like what is not of the format; never thrown.
 */
export const createReader = <Event>(
  recorder: Recorder,
  format: string,
  parse: (line: string) => Event | null,
) => {
  const drift = createDrift()
  const count = (result: (typeof LINE_RESULTS)[number], by: 0 | 1): void => {
    recorder.count('chain_agent_lines_total', by, { format, result })
  }
  return {
    /** Brings the counters into being, once the stream is at hand. */
    begin: (): void => {
      for (const result of LINE_RESULTS) count(result, 0)
    },
    read: (line: string, { by, at }: Line): Event | null => {
      try {
        const event = parse(line)
        count(event === null ? 'ignored' : 'parsed', by)
        return event
      } catch (error) {
        if (!(error instanceof ParseError)) throw error
        count('unparsed', by)
        drift.saw(error, at)
        return null
      }
    },
    /** A line that was not understood, for the log; null while there was none. */
    unparsed: drift.said,
  }
}
