import { Readable, Writable } from 'node:stream'
import { runCli } from '../../src/cli/index.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { StandIns } from '../../src/tasks/stand-ins.ts'

interface World {
  readonly stdin?: string
  readonly env?: Record<string, string>
  /** In the place of /etc/chain-agent/config.yaml. */
  readonly installedConfig?: string
  readonly clock?: Clock
  readonly standIns?: StandIns
}

/** One command line in a world of its own. */
export const cli = async (argv: readonly string[], world: World = {}) => {
  const { stdin = '', env = {}, clock = systemClock, standIns = {}, installedConfig } = world
  const out = listener()
  const err = listener()
  const code = await runCli(argv, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: out.stream,
    stderr: err.stream,
    env,
    clock,
    signal: new AbortController().signal,
    ...(installedConfig === undefined ? {} : { installedConfig }),
    standIns,
  })
  return { code, out: out.text(), err: err.text() }
}

const listener = () => {
  const chunks: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk.toString())
      done()
    },
  })
  return { stream, text: () => chunks.join('') }
}
