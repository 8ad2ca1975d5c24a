// Reads blocks of 16,000 logs from node.mjs into a DuckDB store, as fast as it can; prints what one block needed.
//   node worker.mjs URL FOLDER BLOCKS
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../.cache/modules/src/core/clock.js'
import { createIngest } from '../../.cache/modules/query/service/ingest/ingest.js'
import { openDuckDbStore } from '../../.cache/modules/query/store/duckdb/store.js'
import { measured, peakMiB } from '../measure.mjs'

/** As in node.mjs. */
const FIRST_BLOCK = 0x1_0000_0000
const LOGS_PER_BLOCK = 16_000

const [rpcUrl, folder, count] = process.argv.slice(2)
const blocks = Number(count)
const scope = { addresses: [], topics: [] }
const store = await openDuckDbStore(folder, { identity: { chainId: 143, scope }, clock: systemClock })
const ingest = createIngest({
  rpcUrl,
  store,
  scope,
  fromBlock: FIRST_BLOCK,
  retention: { blocks: null, bytes: null },
  nodeShare: 1,
  clock: systemClock,
})
const stop = new AbortController()
const isDone = () => {
  const { indexed, trouble } = ingest.state()
  if (trouble !== null) throw new Error(`the ingest stopped: ${JSON.stringify(trouble)}`)
  return indexed === FIRST_BLOCK + blocks - 1
}
const { value, cpu, elapsed } = await measured(async () => {
  const ended = ingest.run(stop.signal)
  while (!isDone()) await delay(5)
  return { ended }
})
stop.abort()
await value.ended
const state = ingest.state()
const { bytes } = await store.size()
await store.close()
const figures = {
  'elapsed per block, ms': (elapsed * 1000) / blocks,
  'CPU per block, ms': (cpu * 1000) / blocks,
  'bytes per log': bytes / (blocks * LOGS_PER_BLOCK),
  'peak RSS, MiB': peakMiB(),
}
process.stdout.write(`${JSON.stringify({ figures, result: `${state.blocks} blocks, ${state.logs} logs` })}\n`)
