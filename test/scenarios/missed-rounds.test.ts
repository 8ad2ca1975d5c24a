import { expect, test } from 'vitest'
import { z } from 'zod'
import { MISS_CLASSES } from '../../src/collectors/schedule/miss-class.ts'
import { openHost } from '../support/host.ts'

/**
 * The confusion matrix: the cause that the scenario injects, the classes that `duties` has of the rounds that the node
 * misses from the 30th second on, and the scenario. One round in 14.65 s times out; those of the last 40 s wait.
 */
const MATRIX = [
  ['own outage', { 'own outage': 2 }, '20s node misses\n20s bft crashes SIGABRT\n80s bft starts\n82s node leads'],
  ['execution', { execution: 5 }, '0s bft lags\n30s node misses'],
  ['clock', { clock: 5 }, '0s host clock 900ms\n0s node misses-after lost-votes\n30s node misses'],
  ['peers', { peers: 5 }, '0s peers sessions 2\n0s node misses-after late-parent\n30s node misses'],
  ['UDP', { UDP: 5 }, '0s host drops 500\n0s node misses-after late-parent\n30s node misses'],
  ['network', { network: 5 }, '0s leaders late 25\n0s node misses-after lost-votes\n30s node misses'],
  ['disk', { disk: 5 }, '0s host stalls 40\n0s node misses-after late-proposal\n30s node misses'],
  ['late parent', { 'late parent': 5 }, '0s node misses-after late-parent\n30s node misses'],
  ['votes', { votes: 5 }, '0s node misses-after lost-votes\n30s node misses'],
  ['unknown', { unknown: 5 }, '30s node misses'],
] as const

const found = z.object({
  missed: z.array(z.object({ round: z.string(), cause: z.object({ class: z.enum(MISS_CLASSES) }).nullable() })),
})

test.each(MATRIX)('%s: %o', async (_, row, scenario) => {
  const host = await openHost({ scenario, second: 0 })
  for (let second = 0; second < 130; second += 1) await host.second()
  const since = ['--since', '2026-03-01T12:58:20']
  // The last rounds are not classified yet.
  expect((await host.run(['duties', ...since])).out).not.toContain('not recorded')
  const { out } = await host.run(['duties', '--json', ...since])
  const classes = found.parse(JSON.parse(out)).missed.flatMap(({ cause }) => cause?.class ?? [])
  expect(Object.fromEntries(classes.map((one) => [one, classes.filter((two) => two === one).length]))).toEqual(row)
})

test('each class has a row', () => {
  expect(MATRIX.map(([name]) => name).toSorted()).toEqual(MISS_CLASSES.toSorted())
})
