import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { watch } from '../../src/terminal/watch.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { World } from '../support/cli.ts'
import { type Host, startHost } from '../support/host.ts'
import { manualClock } from '../support/manual-clock.ts'
import { textStream } from '../support/text-stream.ts'

const lineSchema = z.object({ verdict: z.object({ word: z.string() }) })

describe('--watch', () => {
  let host: Host
  beforeAll(async () => {
    host = await startHost({ scenario: 'healthy', second: 90 })
    return host.close
  })

  /** Runs until it has written so much, then Ctrl-C. */
  const watched = async (words: readonly string[], until: RegExp, terminal?: World['terminal']) => {
    const { code, out } = await host.run(['status', ...words], {
      env: { LANG: 'C.UTF-8', TERM: 'xterm' },
      until: (text) => until.test(text),
      ...(terminal && { terminal }),
    })
    return { code, text: out }
  }

  test('in a pipe: a line each time, and an end in good order', async () => {
    const { code, text } = await watched(['--watch', '1'], /\n.*\n/)
    expect(code).toBe(0)
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ OK: the node keeps up with the chain. [\d,]+, [01] blocks? (behind|ahead)/,
      )
    }
  })

  test('as JSON: a document a line', async () => {
    const { code, text } = await watched(['storage', '--watch', '1', '--json'], /\n.*\n/)
    expect(code).toBe(0)
    const words = text
      .trimEnd()
      .split('\n')
      .map((line) => lineSchema.parse(JSON.parse(line)).verdict.word)
    expect(words.length).toBeGreaterThanOrEqual(2)
    expect(new Set(words)).toEqual(new Set(['OK']))
  })

  test('on a terminal: in its place, no more than fits, and the cursor comes back', async () => {
    const terminal = { isTTY: true as const, columns: 80, rows: 10 }
    const { code, text } = await watched(['--watch', '1'], /\[H[^]*\[H/, terminal)
    expect(code).toBe(0)
    expect(text.startsWith('\u001b[?25l\u001b[H')).toBe(true)
    expect(text.endsWith('\u001b[J\u001b[?25h')).toBe(true)
    const pages = text.split('\u001b[H').slice(1)
    for (const page of pages) expect(page.split('\n').length - 1).toBe(9)
    expect(pages[0]).toMatch(/\(\d+ more lines\)/)
  })
})

describe('how often', () => {
  /** Looks on a clock moved by hand, and how many there were after each step. */
  const looksAfter = async (steps: readonly number[], isFromNode: boolean) => {
    const clock = manualClock()
    const ending = new AbortController()
    let looks = 0
    const { stream: stdout, chunks: lines } = textStream()
    const stdin = Readable.from([])
    const io = { stdin, stdout, stderr: stdout, env: {}, clock, signal: ending.signal }
    const look = async () => {
      looks += 1
      if (looks === 2) throw new SourceError({ doing: 'ask the agent', happened: 'it hangs' })
      return Promise.resolve({ lines: [`look ${looks}`], isFromNode })
    }
    const ended = watch(io, 5, look)
    const seen: number[] = []
    for (const step of [0, ...steps]) {
      await clock.advance(step)
      seen.push(looks)
    }
    ending.abort()
    await ended
    return { seen, lines }
  }

  test('an agent as often as was asked for; that it fails once is shown, and no end', async () => {
    const { seen, lines } = await looksAfter([4999, 1, 5000], false)
    expect(seen).toEqual([1, 1, 2, 3])
    expect(lines).toEqual(['look 1\n', 'Could not ask the agent: it hangs\n', 'look 3\n'])
  })

  test('the node itself once a minute, since its tools cost it something', async () => {
    expect((await looksAfter([5000, 54_999, 1], true)).seen).toEqual([1, 1, 1, 2])
  })
})
