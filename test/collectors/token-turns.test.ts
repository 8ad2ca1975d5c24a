import { expect, it } from 'vitest'
import { tokens } from '../../src/collectors/tokens/collector.ts'

it('a token that takes all the time has its turn after the others the next time', async () => {
  const timing = { interval: 60_000, timeout: 10_000 }
  const ending = new AbortController()
  let elapsed = 0
  let readings = 0
  const clock = {
    now: () => 0,
    elapsed: () => elapsed,
    // What waits for a deadline waits for ever.
    sleep: async (_: number, signal?: AbortSignal): Promise<void> => {
      if (signal !== ending.signal) return new Promise(() => undefined)
      readings += 1
      if (readings === 3) ending.abort()
      return Promise.resolve()
    },
  }
  const asked: string[] = []
  const watch = ['slow', 'quick', 'other'].map((name) => ({
    name,
    contract: `0x${'70'.repeat(20)}`,
    standard: 'erc20' as const,
    profile: null,
    fromBlock: 0,
    decimals: 0,
    holders: [],
  }))
  const states: string[][] = []
  const collector = tokens({
    watch,
    timing,
    feedOf: ({ name }) => ({
      advance: async ({ soft, hard }) => {
        asked.push(`${name} ${Math.round(soft)} ${hard}`)
        elapsed += name === 'slow' ? hard : 1000
        return Promise.resolve({ through: 1, result: null, hasMoved: true, refusal: null })
      },
    }),
  })
  await collector.run({ clock, signal: ending.signal }, (outcome) => {
    if (outcome.ok) states.push(Object.values(collector.states(outcome.value)))
  })
  const reading = 'the history is being read'
  const waits = 'the others have taken all the time: next time it comes first'
  expect(asked).toEqual([
    'slow 2667 9000',
    'quick 2667 9000',
    'other 2667 8000',
    'slow 2667 7000',
    'quick 2667 9000',
    'other 2667 8000',
    'slow 2667 7000',
  ])
  expect(states).toEqual([
    [reading, waits, waits],
    [reading, reading, reading],
    [reading, reading, reading],
  ])
})
