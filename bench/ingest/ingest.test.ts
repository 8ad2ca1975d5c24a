import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/core/clock.ts'
import { createIngest } from '../../src/query/service/ingest/ingest.ts'
import { type IngestState } from '../../src/query/service/ingest/writer.ts'
import { openDuckDbStore } from '../../src/query/store/duckdb/store.ts'
import { type LogStore } from '../../src/query/store/store.ts'
import { eventually } from '../../test/support/eventually.ts'
import { memoryStore } from '../../test/support/memory-store.ts'

const BLOCKS = Number(process.env['BLOCKS'] ?? 100)
const LOGS = 16_000
const BLOCK_MS = 400
const FIRST = 0x1_0000_0000

const startNode = async (blocks: number, ms: number) => {
  const script = join(import.meta.dirname, 'node.mjs')
  const child = spawn(process.execPath, [script, `${blocks}`, `${ms}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = z.array(z.unknown()).parse(await once(child.stdout, 'data'))
  return {
    url: `http://127.0.0.1:${String(port).trim()}`,
    stop: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** A store that forgets the logs: what is measured with it is the ingest alone. */
const forgetful = (): LogStore => {
  const store = memoryStore()
  return { ...store, append: (blocks) => store.append(blocks.map((block) => ({ ...block, logs: [] }))) }
}

const measure = async (name: string, store: LogStore): Promise<IngestState> => {
  const node = await startNode(BLOCKS, 0)
  try {
    const stop = new AbortController()
    const ingest = createIngest({
      rpcUrl: node.url,
      store,
      scope: { addresses: [], topics: [] },
      fromBlock: FIRST,
      retention: 'unbounded',
      nodeShare: 1,
      clock: systemClock,
    })
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    const running = ingest.run(stop.signal)
    await eventually(
      () => ingest.state(),
      ({ indexed }) => indexed === FIRST + BLOCKS - 1,
      { within: 300_000, every: 10 },
    )
    const seconds = (performance.now() - began) / 1000
    const used = process.cpuUsage(cpu)
    stop.abort()
    await running
    console.log({
      store: name,
      blocks: BLOCKS,
      seconds: round(seconds),
      msPerBlock: round((seconds * 1000) / BLOCKS),
      timesRealTime: round((BLOCKS * BLOCK_MS) / 1000 / seconds),
      logsPerSecond: Math.round((BLOCKS * LOGS) / seconds),
      // Of all threads, the store's too. Beyond one core a block in this time is no more in step with the chain.
      cpuMsPerBlock: round((used.user + used.system) / 1000 / BLOCKS),
      bytesPerLog: round((await store.size()).bytes / (BLOCKS * LOGS)),
      maxRssMB: Math.round(process.resourceUsage().maxRSS / 1024),
      load: loadavg()[0],
    })
    return ingest.state()
  } finally {
    await node.stop()
    await store.close()
  }
}

const round = (value: number): number => Math.round(value * 100) / 100

const ALL = { blocks: BLOCKS, logs: BLOCKS * LOGS, trouble: null }

test('the ingest alone: the logs are discarded', async () => {
  expect(await measure('none', forgetful())).toMatchObject(ALL)
})

test('the ingest into DuckDB', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bench-ingest-'))
  try {
    const identity = { chainId: 143, scope: { addresses: [], topics: [] } }
    const store = await openDuckDbStore(directory, { identity, clock: systemClock })
    expect(await measure('DuckDB', store)).toMatchObject(ALL)
  } finally {
    await rm(directory, { recursive: true })
  }
})
