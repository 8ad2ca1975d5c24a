import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { confirm, requireTerminal } from '../../src/terminal/prompt.ts'
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

describe('a confirmation', () => {
  it.each([
    ['yes\n', true],
    [' YES \n', true],
    ['y\n', false],
    ['\n', false],
    ['no\n', false],
  ])('answered with %j: %s', async (answer, expected) => {
    const { io, stdin } = terminal()
    const asked = confirm(io, 'Replace?', '--yes')
    stdin.write(answer)
    expect(await asked).toBe(expected)
  })

  it('the end of the input is no', async () => {
    const { io, stdin } = terminal()
    const asked = confirm(io, 'Replace?', '--yes')
    stdin.end()
    expect(await asked).toBe(false)
  })

  it('Ctrl-C is no, without an error', async () => {
    const { io, ending } = terminal()
    const asked = confirm(io, 'Replace?', '--yes')
    ending.abort()
    expect(await asked).toBe(false)
  })

  it('is a usage error if stdin is not a terminal', () => {
    expect(() => {
      requireTerminal(terminal(false).io, '--yes')
    }).toThrow('Use --yes to continue without confirmation')
  })
})
