import { expect } from 'vitest'
import { z } from 'zod'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { type Call, contract, startRpcNode } from '../support/rpc-node.ts'
import { startServing } from './processes.ts'

const HEIGHT = 3000
/** Until the service is restarted, the node returns no logs from this block on. */
const HELD_FROM = 1500
const filterSchema = z.tuple([z.object({ fromBlock: z.coerce.number() })])
const fromBlockOf = ({ method, params }: Call): number | undefined =>
  method === 'eth_getLogs' ? filterSchema.parse(params)[0].fromBlock : undefined

it('a backfill stops gracefully on a signal, and resumes where it was', async ({ directory, onTestFinished }) => {
  const node = await startRpcNode({
    height: HEIGHT,
    faults: (call) => ((fromBlockOf(call) ?? 0) >= HELD_FROM ? { kind: 'hang' } : undefined),
  })
  onTestFinished(node.close)
  // Block 0, 3, 6, … of the test's chain begin with that contract: one of three logs is of it.
  const words = ['--rpc-url', node.url, '--store', directory, '--contract', contract(0)]
  const more = ['--set', 'serveQuery.behindAfter=never']
  const first = await startServing([...words, ...more])
  const written = await eventually(first.height, (height) => (height ?? 0) > 0, { every: 5 })
  expect(await first.stop('SIGTERM')).toBe(0)
  expect(first.output().trim().split('\n').at(-1)).toMatch(/"msg":"Stopping"/)

  const callsOfFirst = node.seen.length
  node.faults = () => undefined
  const second = await startServing([...words, ...more])
  await second.reaches(HEIGHT)
  // What was written is not fetched again.
  const fetched = node.seen.slice(callsOfFirst).flatMap((call) => fromBlockOf(call) ?? [])
  expect(Math.min(...fetched)).toBeGreaterThan(written ?? Infinity)
  expect(await second.stop('SIGINT')).toBe(0)
  expect(first.output() + second.output()).not.toMatch(/Warning/)
})
