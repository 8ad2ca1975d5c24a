import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { type Bench, createBench, missing, read } from './bench.ts'
import { expectNoBug } from './suite.ts'
import { BLOCKS, DIFFERENCE, OF_RPC, OF_SERVICES } from './table.ts'

const HEIGHT = 'chain_ledger_seq_num{event=proposed}'
const RESTARTS = 'chain_agent_journal_restarts_total{service=ledger-tail}'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(async () => {
  await bench.close()
})

const savedSchema = z.object({
  counts: z.object({ counts: z.array(z.tuple([z.string(), z.number(), z.record(z.string(), z.string())])) }),
  memory: z.object({ newest: z.object({ proposed: z.object({ seqNum: z.coerce.number() }) }) }),
})

/** What the agent has saved with its journal cursor. */
const readSaved = async () => {
  const text = await readFile(join(bench.agent.directory, 'state/ledger.json'), 'utf8')
  const { counts, memory } = savedSchema.parse(JSON.parse(text))
  const [, blocks] = counts.counts.find(([name, , labels]) => BLOCKS === `${name}{event=${labels['event']}}`) ?? []
  return { blocks, height: memory.newest.proposed.seqNum }
}

/**
 * The counted blocks up to a height. A scrape has the height at once, and the blocks only after they are saved: they
 * belong together if both are those that are saved.
 */
const blocksAndHeight = async () =>
  eventually(
    async () => {
      const saved = await readSaved()
      const seen = await bench.look()
      const exported = { blocks: read(seen, BLOCKS) ?? NaN, height: read(seen, HEIGHT) ?? NaN }
      return { saved, exported, restarts: read(seen, RESTARTS) ?? 0 }
    },
    ({ saved, exported }) => saved.blocks === exported.blocks && saved.height === exported.height,
  )

describe('restarted', () => {
  test('rpc: heights and client version return', async () => {
    await bench.isWell()
    await bench.parts.rpc.set('gone')
    await bench.agent.see((seen) => read(seen, 'chain_rpc_up'), 0)
    await bench.parts.rpc.set('healthy')
    await bench.isWell()
    expect(missing(await bench.look(), OF_RPC)).toEqual([])
  })
  test('reference: the difference returns', async () => {
    await bench.parts.reference.set('gone')
    await bench.agent.see((seen) => read(seen, DIFFERENCE), undefined)
    await bench.parts.reference.set('healthy')
    // Blocks may pass between the two requests.
    const difference = await bench.agent.see((seen) => read(seen, DIFFERENCE), 0)
    expect(difference).toBe(0)
  })
  test('systemctl: one killed poll does not remove the services', async () => {
    await bench.isWell()
    await bench.parts.systemctl.set('healthy')
    expect(missing(await bench.look(), OF_SERVICES)).toEqual([])
  })
  test('journalctl: it is restarted and resumes; nothing is lost or counted twice', async () => {
    await bench.isWell()
    const before = await blocksAndHeight()
    await bench.parts.journalctl.set('healthy') // kills the follower
    await bench.agent.see(
      (seen) => read(seen, RESTARTS),
      (count) => count === before.restarts + 1,
    )
    await bench.isWell()
    await bench.agent.see(
      (seen) => read(seen, BLOCKS) ?? 0,
      (blocks) => blocks > before.exported.blocks + 3,
    )
    // Heights have no gap, so counted blocks and heights must grow together:
    // a height proposed twice is two blocks, and the healthy node proposes none twice.
    const after = await blocksAndHeight()
    const [from, to] = [before.exported, after.exported]
    expect(to.blocks - from.blocks).toBe(to.height - from.height)
  })
})

expectNoBug(() => bench)
