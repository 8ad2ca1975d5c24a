import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../core/clock.ts'
import type { StandIns } from '../commands/shared/stand-ins.ts'

/** The world as a command sees it, so that a test can hand in another. */
export interface Io {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /**
   * Aborts on Ctrl-C, on SIGTERM and on SIGHUP, and with `READER_GONE` when the reader of the output is gone.
   * The command then shuts down cleanly.
   */
  readonly signal: AbortSignal
  /** The configuration file to read where none is named, if it exists. */
  readonly installedConfig?: string
  /** Makes SIGHUP call the listener instead of aborting `signal`. */
  readonly onHangup?: (listener: () => void) => void
  readonly standIns?: StandIns
}

/** Why the signal aborts where nobody has asked for it: the reader of our output (`head`) has had enough. */
export const READER_GONE = 'the reader has gone'

/**
 * 0 all is well, 1 the thing asked for could not be done, 2 it was asked for in a wrong way. Of a query:
 * 3 the key was not accepted, 4 what was written is not all, 5 the service cannot be followed, 130 Ctrl-C.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 130
