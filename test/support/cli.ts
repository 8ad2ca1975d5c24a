import { Readable, Writable } from 'node:stream'
import { runCli } from '../../src/cli/program.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { SourceOverrides } from '../../src/cli/io.ts'

export interface World {
  readonly stdin?: string
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

/** Runs one command line and returns its exit code and output. */
export const cli = async (argv: readonly string[], world: World = {}) => {
  const { stdin = '', env = {}, clock = systemClock, overrides = {}, installedConfig } = world
  const { until, terminal = {} } = world
  const interrupt = new AbortController()
  const out = listener((text) => {
    if (until?.(text)) interrupt.abort()
  })
  const err = listener()
  const code = await runCli(argv, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: Object.assign(out.stream, terminal),
    stderr: err.stream,
    env,
    clock,
    signal: interrupt.signal,
    ...(installedConfig === undefined ? {} : { installedConfig }),
    overrides,
  })
  return { code, out: out.text(), err: err.text() }
}

const listener = (onWrite: (text: string) => void = () => undefined) => {
  const chunks: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk.toString())
      onWrite(chunks.join(''))
      done()
    },
  })
  return { stream, text: () => chunks.join('') }
}
