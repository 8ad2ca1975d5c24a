import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { Secret } from '../../src/core/redaction/secret.ts'
import { type Answering, clickHousePlace } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { installed } from '../support/installed.ts'
import { start } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryStore } from '../support/memory-store.ts'
import { columnsOf, diceOf, IDENTITY, kindOf, never, randomChain, randomFilter, WHOLE } from '../support/store-cases.ts'

const PLACE = fileURLToPath(new URL('../chdb', import.meta.url))

const probeChdb = async (): Promise<Probe> => {
  try {
    await installed(PLACE)
    const manifest: unknown = JSON.parse(await readFile(join(PLACE, 'node_modules/chdb/package.json'), 'utf8'))
    return { version: `chdb ${z.object({ version: z.string() }).parse(manifest).version}` }
  } catch (error) {
    return { missing: String(error) }
  }
}

/** ClickHouse of today as one server, without a cluster: the engine is in a process of Node. */
const startChdb = async (): Promise<Answering> => {
  await installed(PLACE)
  const directory = await mkdtemp(join(tmpdir(), `chain-sandbox-${process.pid}-chdb-`))
  const server = start('setpriv', ['--pdeathsig=KILL', process.execPath, join(PLACE, 'server.mjs'), directory])
  const stop = async (): Promise<void> => {
    await server.stop('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
  const address = await eventually(
    () => /^127\.0\.0\.1:\d+$/m.exec(server.output())?.[0] ?? '',
    (found) => found !== '',
  ).catch(async (error: unknown) => {
    await stop()
    throw new Error(server.output(), { cause: error })
  })
  return {
    url: `clickhouse://${address}/default`,
    password: new Secret('none'),
    addresses: [address],
    ask: async (statement) => {
      const response = await fetch(`http://${address}/`, { method: 'POST', body: statement })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.trimEnd()
    },
    stop,
  }
}

const describeReal = await requireRealPart('ClickHouse of today', probeChdb)

/** Codecs, skip indexes, fsync, mutations, settings: the statements that are others than those of 18.16. */
describeReal('ClickHouse of today', () => {
  let server: Answering
  beforeAll(async () => {
    server = await startChdb()
  })
  afterAll(async () => server.stop())

  it('stores, finds, prunes and reopens', async () => {
    const place = await clickHousePlace(server)
    const store = await place.open(IDENTITY)
    const naive = memoryStore()
    const chain = randomChain({ seed: 12, from: 1000, blocks: 120 })
    const dice = diceOf(12)
    for (let at = 0; at < chain.length; at += 40) {
      await store.append(chain.slice(at, at + 40))
      await naive.append(chain.slice(at, at + 40))
    }
    for (const firstKept of [1000, 1035]) {
      await store.prune(firstKept)
      await naive.prune(firstKept)
      for (const open of [store, await place.open(IDENTITY)]) {
        const selection = { ...WHOLE, from: firstKept, filters: [randomFilter(dice), randomFilter(dice)] }
        expect(columnsOf(await open.read(selection, never()))).toEqual(columnsOf(await naive.read(selection, never())))
        expect(await open.range()).toEqual(await naive.range())
        expect((await open.size()).logs).toBe((await naive.size()).logs)
      }
    }
    expect(await kindOf(store.read({ ...WHOLE, from: 1034 }, never()))).toBe('pruned')
    const database = place.url.replace(/^.*\/(\w+)\?.*$/, '$1')
    // Partitions of ten blocks: 1030 to 1039 is still in use.
    expect(await server.ask(`SELECT min(block) FROM ${database}.chain_logs_local`)).toMatch(/^103\d$/)
    expect(await server.ask(`SHOW CREATE TABLE ${database}.chain_logs_local`)).toContain('bloom_filter')
  })
})
