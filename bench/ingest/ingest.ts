import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Comparison, serve, take } from '../comparison.ts'

const BLOCKS = 50
const BLOCK_MS = 400

export const ingest: Comparison = {
  name: 'ingest',
  title: 'Ingest of full blocks by the query service',
  fairness: `A simulated node, which runs on the same machine, has ${BLOCKS} blocks of 16,000 logs (10 MB of JSON-RPC each). The service reads and
verifies all of them and commits them to DuckDB on disk; all logs must have arrived. The peer is the chain: a block every ${BLOCK_MS} ms. The service runs with the young
generation of its unit in \`deploy/\`.`,
  open: async (setup) => {
    const url = await serve(['ingest/node.mjs', `${BLOCKS}`], setup)
    const result = `${BLOCKS} blocks, ${BLOCKS * 16_000} logs`
    return {
      programs: [`a chain with a block every ${BLOCK_MS} ms`, 'chain-agent serve-query'],
      round: async () => {
        const folder = await mkdtemp(join(setup.folder, 'ingest-'))
        try {
          const args = ['--max-semi-space-size=64', 'ingest/worker.mjs', url, folder, `${BLOCKS}`]
          return [{ figures: { 'elapsed per block, ms': BLOCK_MS }, result }, await take(args)]
        } finally {
          await rm(folder, { recursive: true })
        }
      },
    }
  },
}
