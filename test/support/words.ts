import { PassThrough } from 'node:stream'
import { loadProgram } from '../../src/cli/program.ts'
import { describeCommand, type Words } from '../../src/cli/help/describe.ts'
import { withBelow } from '../../src/cli/help/shared.ts'
import { systemClock } from '../../src/core/clock.ts'

/** The complete help of the program. */
export const programWords = async (): Promise<Words> => {
  const stream = new PassThrough()
  const streams = { stdin: stream, stdout: stream, stderr: stream }
  const { signal } = new AbortController()
  return describeCommand(
    await loadProgram({ ...streams, env: {}, clock: systemClock, signal }, () => undefined),
  )
}

/** Every command by its full path, and every option by its long name. */
export const namesIn = (program: Words): readonly string[] => [
  ...new Set(
    withBelow(program).flatMap(({ path, options }) => [
      path,
      ...options.flatMap(({ names }) => names.slice(-1)),
    ]),
  ),
]
