import { randomInt } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Clock } from '../core/clock.ts'
import { sanitize } from '../core/redaction/redact.ts'
import type { Exec } from '../sources/exec.ts'
import type { SendRequest } from '../sources/http.ts'

/** The process environment of a command: streams, variables, clock and signals. Tests pass their own. */
export interface Io {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /**
   * Aborts on Ctrl-C, on SIGTERM and on SIGHUP, and with `READER_GONE` when the reader of the output is gone. The
   * command then shuts down cleanly.
   */
  readonly signal: AbortSignal
  /** The default configuration file, read if it exists. */
  readonly installedConfig?: string
  /** Makes SIGHUP call the listener instead of aborting `signal`. */
  readonly onHangup?: (listener: () => void) => void
  /** Passes each warning of Node.js to the listener instead of printing it on stderr. */
  readonly onWarning?: (listener: (warning: Error) => void) => void
  readonly overrides?: SourceOverrides
}

/** Replacements for the programs and HTTP endpoints of the host: in tests and in a simulation. */
export interface SourceOverrides {
  readonly exec?: Exec
  readonly ask?: SendRequest
}

/** The abort reason when the reader of stdout (`head`) has closed the pipe: no interruption by the operator. */
export const READER_GONE = 'the reader has gone'

/**
 * 0 success, 1 failure, 2 usage error. Of a query: 3 the key was rejected, 4 the output is incomplete, 5 a protocol
 * error or no progress, 130 Ctrl-C. Of `init --check`: 3 the file would change.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 130

/** Whether a stream is a terminal. */
export const isTerminal = (stream: Readable | Writable): boolean => 'isTTY' in stream && stream.isTTY === true

/** What the action of a command receives from `defineCommand`. `options` also has the arguments, by name. */
export interface ActionContext<Options> {
  readonly io: Io
  readonly exit: (code: ExitCode) => void
  readonly options: Options
}

/** The same for an action that reports usage errors. */
export interface CommandContext<Options> extends ActionContext<Options> {
  readonly command: Command
}

export const searchPath = ({ env }: Pick<Io, 'env'>): string => env['PATH'] ?? '/usr/bin:/bin'

/** What a command needs to read the host. */
export interface SourceContext extends SourceOverrides {
  readonly clock: Clock
  readonly path: string
  readonly signal: AbortSignal
}

export const sourceContext = (io: Io): SourceContext => ({
  clock: io.clock,
  path: searchPath(io),
  signal: io.signal,
  ...io.overrides,
})

/** A usage error that is found after the options were parsed. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Whether the operator or systemd interrupted the command; a reader that closed the pipe does not count. */
export const isInterrupted = ({ signal }: Pick<Io, 'signal'>): boolean =>
  signal.aborted && signal.reason !== READER_GONE

/** The command was interrupted: `runCli` prints the message, and nothing else. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
  readonly exitCode: ExitCode
  constructor(message = 'Interrupted before there was a result.', exitCode: ExitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Runs `gather`. If it is interrupted, throws `interruption`: a partial result would look complete. */
export const unlessInterrupted = async <T>(
  { signal }: Pick<Io, 'signal'>,
  gather: () => Promise<T>,
  interruption = new InterruptedError(),
): Promise<T> => {
  const result = await gather().catch((error: unknown) => {
    // An aborted operation may throw any error.
    throw signal.aborted ? interruption : error
  })
  if (signal.aborted) throw interruption
  return result
}

export const INCOMPLETE = 'Interrupted; the output is incomplete.'

/** Parameters that only this process can put into a control sequence. Node.js removes those of at most four digits. */
const OWN = Array.from({ length: 4 }, () => `${randomInt(10_000)};`).join('')
const OWN_SEQUENCES = new RegExp(String.raw`\u001b\[${OWN}([0-?]{0,16}[@-~])`)

/** A control sequence of the program itself, such as `32m`. `guardOutput` writes it; any other is removed. */
export const controlSequence = (rest: string): string => `\u001b[${OWN}${rest}`

/**
 * The streams of a command on which every text is sanitized, whatever its source: files, the node, other services, the
 * command line. Only the sequences of `controlSequence` are written as such. Bytes are written as they are.
 */
export const guardOutput = (io: Io): Io => ({ ...io, stdout: guarded(io.stdout), stderr: guarded(io.stderr) })

const unguarded = new WeakMap<Writable, Writable>()

/** The stream behind the guard: for readline, which moves the cursor itself. */
export const terminalOf = (stream: Writable): Writable => unguarded.get(stream) ?? stream

const guarded = (stream: Writable): Writable => {
  const write = (chunk: unknown, ...rest: []): boolean =>
    stream.write(typeof chunk === 'string' ? printable(chunk) : chunk, ...rest)
  const proxy = new Proxy(stream, {
    get: (target, key) => {
      if (key === 'write') return write
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const bound: unknown = value.bind(target)
      return bound
    },
  })
  unguarded.set(proxy, stream)
  return proxy
}

/** A text as it is written to a terminal: without control characters except line breaks and tabs. */
export const printable = (text: string): string =>
  /^[\t\n -~]*$/.test(text)
    ? text
    : text
        .split(OWN_SEQUENCES)
        .map((part, at) => (at % 2 === 1 ? `\u001b[${part}` : part.split('\t').map(sanitize).join('\t')))
        .join('')

/** Writes to stdout and waits until the reader has taken it. Does nothing after the reader has closed the pipe. */
export const writeAll = async ({ stdout }: Pick<Io, 'stdout'>, text: string): Promise<void> => {
  if (text === '' || stdout.destroyed) return
  await new Promise<void>((resolve) => {
    stdout.write(text, () => {
      resolve()
    })
  })
}
