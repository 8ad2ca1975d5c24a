import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { askYes, mustBeAskable } from '../../src/cli/terminal/ask.ts'
import { systemClock } from '../../src/core/clock.ts'

const terminal = (isTTY = true) => {
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const stderr = new PassThrough()
  const ending = new AbortController()
  const io = {
    stdin,
    stdout: new PassThrough(),
    stderr,
    env: {},
    clock: systemClock,
    signal: ending.signal,
  }
  return { io, stdin, ending }
}

describe('a question', () => {
  it.each([
    ['yes\n', true],
    [' YES \n', true],
    ['y\n', false],
    ['\n', false],
    ['no\n', false],
  ])('answered with %j: %s', async (answer, expected) => {
    const { io, stdin } = terminal()
    const asked = askYes(io, 'Replace?', '--yes')
    stdin.write(answer)
    expect(await asked).toBe(expected)
  })

  it('is answered with no by the end of the input', async () => {
    const { io, stdin } = terminal()
    const asked = askYes(io, 'Replace?', '--yes')
    stdin.end()
    expect(await asked).toBe(false)
  })

  it('is answered with no by Ctrl-C, and nothing is thrown', async () => {
    const { io, ending } = terminal()
    const asked = askYes(io, 'Replace?', '--yes')
    ending.abort()
    expect(await asked).toBe(false)
  })

  it('is not put where nobody is there to answer', () => {
    expect(() => {
      mustBeAskable(terminal(false).io, '--yes')
    }).toThrow('With --yes it is done unasked')
  })
})
