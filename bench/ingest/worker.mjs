// Reads blocks of 16,000 logs from node.mjs into a DuckDB store, as fast as it can; prints what one block needed.
//   node worker.mjs URL FOLDER BLOCKS
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../.cache/modules/src/core/clock.js'
import { createIngest } from '../../.cache/modules/query/service/ingest/ingest.js'
import { openDuckDbStore } from '../../.cache/modules/query/store/duckdb/store.js'
import { peakMiB } from '../peak.mjs'

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
const [began, used] = [performance.now(), process.cpuUsage()]
const running = ingest.run(stop.signal)
const isDone = () => {
  const { indexed, trouble } = ingest.state()
  if (trouble !== null) throw new Error(`the ingest stopped: ${JSON.stringify(trouble)}`)
  return indexed === FIRST_BLOCK + blocks - 1
}
while (!isDone()) await delay(5)
const milliseconds = performance.now() - began
const { user, system } = process.cpuUsage(used)
stop.abort()
await running
const state = ingest.state()
const { bytes } = await store.size()
await store.close()
const figures = {
  'elapsed per block, ms': milliseconds / blocks,
  'CPU per block, ms': (user + system) / 1000 / blocks,
  'bytes per log': bytes / (blocks * LOGS_PER_BLOCK),
  'peak RSS, MiB': peakMiB(),
}
process.stdout.write(`${JSON.stringify({ figures, result: `${state.blocks} blocks, ${state.logs} logs` })}\n`)
