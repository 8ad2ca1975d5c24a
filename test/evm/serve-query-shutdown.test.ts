import { expect } from 'vitest'
import { z } from 'zod'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { contract, startRpcNode } from '../support/rpc-node.ts'
import { startServing } from './processes.ts'

const HEIGHT = 3000
const pageSchema = z.object({
  data: z.array(z.object({ logs: z.array(z.unknown()) })),
  next_block: z.number().optional(),
})

it('a backfill stops gracefully on a signal, and resumes where it was', async ({ directory, onTestFinished }) => {
  const node = await startRpcNode({ height: HEIGHT })
  onTestFinished(node.close)
  // Block 0, 3, 6, … of the test's chain begin with that contract: one of three logs is of it.
  const words = ['--rpc-url', node.url, '--store', directory, '--contract', contract(0)]
  const more = ['--set', 'serveQuery.behindAfter=never']
  const first = await startServing([...words, ...more])
  await eventually(first.height, (height) => (height ?? 0) > 0, { every: 5 })
  expect(await first.stop('SIGTERM')).toBe(0)
  expect(first.output().trim().split('\n').at(-1)).toMatch(/"msg":"Stopping"/)

  const second = await startServing([...words, ...more])
  const begun = await eventually(second.height, (height) => height !== null, { every: 5 })
  expect(begun).toBeLessThan(HEIGHT)
  await second.reaches(HEIGHT)
  const asked = node.seen.flatMap(({ method, params }) => (method === 'eth_getLogs' ? [JSON.stringify(params)] : []))
  // What was written before the end was not fetched again.
  expect(new Set(asked).size).toBeGreaterThanOrEqual(asked.length - 1)

  let logs = 0
  for (let from: number | undefined = 0; from !== undefined;) {
    const body = {
      from_block: from,
      logs: [{ address: [contract(0)] }],
      field_selection: { log: ['data'] },
    }
    const page = pageSchema.parse(await (await second.query(body)).json())
    logs += page.data.reduce((sum, entry) => sum + entry.logs.length, 0)
    from = page.next_block
  }
  const blocks = Array.from({ length: HEIGHT + 1 }, (_, block) => node.chain.block(block))
  const expected = blocks.flatMap((block) => block.logs.filter(({ address }) => address === contract(0)))
  expect(logs).toBe(expected.length)
  expect(await second.stop('SIGINT')).toBe(0)
  expect(first.output() + second.output()).not.toMatch(/Warning/)
})
