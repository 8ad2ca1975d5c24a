import { Readable } from 'node:stream'
import type { Clock } from '../../src/core/clock.ts'
import type { SourceOverrides } from '../../src/terminal/io.ts'
import { shipped } from './shipped.ts'
import { type TextStream, textStream } from './text-stream.ts'

export interface World {
  readonly stdin?: string
  /** Whether standard input is a terminal. */
  readonly isTyped?: boolean
  readonly env?: Record<string, string>
  /** In the place of /etc/chain-agent/config.yaml. */
  readonly installedConfig?: string
  readonly clock?: Clock
  readonly overrides?: SourceOverrides
  /** Interrupts the command, as Ctrl-C does, as soon as its output satisfies this. */
  readonly until?: (out: string) => boolean
  /** What standard output has beyond a pipe: that it is a terminal, and its size. */
  readonly terminal?: { readonly isTTY: true; readonly columns: number; readonly rows: number }
}

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A command that runs, and its output so far. */
interface RunningCommand {
  readonly out: TextStream
  readonly err: TextStream
  /** Interrupts it, as Ctrl-C does unless there is another reason, and waits for its end. */
  interrupt(reason?: unknown): Promise<Ended>
  readonly ended: Promise<Ended>
}

/** Starts one command line. */
export const startCli = (argv: readonly string[], world: World = {}): RunningCommand => {
  const { stdin = '', env = {}, clock = shipped.systemClock, overrides = {}, installedConfig } = world
  const { until, terminal = {}, isTyped = false } = world
  const interrupt = new AbortController()
  const out = textStream(() => {
    if (until?.(out.text())) interrupt.abort()
  })
  const err = textStream()
  const running = shipped.runCli(argv, {
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), isTyped && { isTTY: true }),
    stdout: Object.assign(out.stream, terminal),
    stderr: err.stream,
    env,
    clock,
    signal: interrupt.signal,
    ...(installedConfig === undefined ? {} : { installedConfig }),
    overrides,
  })
  const ended = running.then((code) => ({ code, out: out.text(), err: err.text() }))
  return {
    out,
    err,
    interrupt: async (reason = 'Ctrl-C') => {
      interrupt.abort(reason)
      return ended
    },
    ended,
  }
}

/** Runs one command line and returns its exit code and output. */
export const cli = async (argv: readonly string[], world: World = {}): Promise<Ended> => startCli(argv, world).ended
