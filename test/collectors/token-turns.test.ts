import { expect, it } from 'vitest'
import { tokens } from '../../src/collectors/tokens/collector.ts'

it('a token that uses all the time is read last in the next round', async () => {
  const timing = { interval: 60_000, timeout: 10_000 }
  const ending = new AbortController()
  let elapsed = 0
  let readings = 0
  const clock = {
    now: () => 0,
    elapsed: () => elapsed,
    // Deadlines never expire.
    sleep: async (_: number, signal?: AbortSignal): Promise<void> => {
      if (signal !== ending.signal) return new Promise(() => undefined)
      readings += 1
      if (readings === 3) ending.abort()
      return Promise.resolve()
    },
  }
  const advances: string[] = []
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
        advances.push(`${name} ${Math.round(soft)} ${hard}`)
        elapsed += name === 'slow' ? hard : 1000
        return Promise.resolve({ through: 1, result: null, hasMoved: true, refusal: null })
      },
    }),
  })
  await collector.run({ clock, signal: ending.signal }, (outcome) => {
    if (outcome.ok) states.push(Object.values(collector.states(outcome.value)))
  })
  const reading = 'the history is being read'
  const waits = 'no time left in this round: it is read first in the next one'
  expect(advances).toEqual([
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
