import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { SourceError } from '../../src/core/errors.ts'
import { watch } from '../../src/terminal/watch.ts'
import { manualClock } from '../support/manual-clock.ts'
import { textStream } from '../support/text-stream.ts'

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
