import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { confirm, requireTerminal, withDialogue } from '../../src/terminal/prompt.ts'
import { systemClock } from '../../src/core/clock.ts'

const terminal = (isTTY = true) => {
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const stderr = new PassThrough()
  const ending = new AbortController()
  const io = { stdin, stdout: new PassThrough(), stderr, env: {}, clock: systemClock, signal: ending.signal }
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

describe('a dialogue', () => {
  it('gives each of the lines that are pasted at once to its question; its end is null', async () => {
    const { io, stdin } = terminal()
    stdin.end('one\n two \nthree\n')
    const answers = await withDialogue(io, async (ask) => [
      await ask('1: '),
      await ask('2: '),
      await ask('3: '),
      await ask('4: '),
    ])
    expect(answers).toEqual(['one', 'two', 'three', null])
  })

  it('is null from Ctrl-C on', async () => {
    const { io, stdin, ending } = terminal()
    const answers = withDialogue(io, async (ask) => {
      const first = await ask('1: ')
      ending.abort()
      return [first, await ask('2: ')]
    })
    stdin.write('one\ntwo\n')
    expect(await answers).toEqual(['one', null])
  })
})
