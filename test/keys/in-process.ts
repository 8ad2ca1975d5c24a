import { Readable } from 'node:stream'
import { CommanderError } from 'commander'
import { keysCommand } from '../../src/commands/keys/command.ts'
import type { ExitCode } from '../../src/terminal/io.ts'
import { systemClock } from '../../src/core/clock.ts'
import { asError } from '../../src/core/errors.ts'
import { textStream } from '../support/text-stream.ts'
import type { Bench } from './bench.ts'

/** Runs a `keys` command in this process, without loading the other commands, which is much faster. One at a time. */
export const runKeys = async ({ config, env }: Bench, argv: readonly string[]) => {
  const out = textStream()
  const err = textStream()
  let code: ExitCode = 0
  const io = {
    stdin: Readable.from([]),
    stdout: out.stream,
    stderr: err.stream,
    env,
    clock: systemClock,
    signal: new AbortController().signal,
    overrides: {},
  }
  const command = keysCommand('keys', io, (given) => {
    code = given
  })
  for (const one of [command, ...command.commands]) {
    one.exitOverride().configureOutput({ writeErr: (text) => err.stream.write(text) })
  }
  const places = Object.entries(config.node).map(([key, value]) => `--set=node.${key}=${value}`)
  try {
    await command.parseAsync([...argv, '--prefix=chain', ...places], { from: 'user' })
  } catch (thrown) {
    const error = asError(thrown)
    if (!(error instanceof CommanderError)) err.stream.write(`${error.message}\n`)
    code = error.name === 'SourceError' || error.name === 'ParseError' ? 1 : 2
  }
  return { code, out: out.text(), err: err.text() }
}
