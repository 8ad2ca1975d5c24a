import { mkdir, mkdtemp, open, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openDuckDbStore } from '../../query/store/duckdb/store.ts'
import type { Block, LogStore } from '../../query/store/store.ts'
import { storeContract } from '../query/store.contract.ts'
import { it as directoryTest } from '../support/directory.ts'
import {
  contract,
  diceOf,
  EVERYTHING,
  hexOf,
  kindOf,
  never,
  randomChain,
  walked,
  WHOLE,
  word,
} from '../support/store-cases.ts'
import { startWriter } from './writer-process.ts'

storeContract('DuckDB', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'duckdb-store-'))
  return {
    open: (identity) => openDuckDbStore(directory, { identity, clock: systemClock }),
    remove: () => rm(directory, { recursive: true }),
  }
})

const it = directoryTest
  .extend(
    'opened',
    ({ directory }) =>
      (chainId: number | null = 143) =>
        openDuckDbStore(directory, { identity: { chainId, scope: EVERYTHING }, clock: systemClock }),
  )
  .extend('file', ({ directory }) => join(directory, 'duckdb', 'logs.duckdb'))

describe('the files of the store', () => {
  it('is readable only by its owner', async ({ directory, opened, file }) => {
    const store = await opened()
    await store.append(randomChain({ seed: 1, from: 0, blocks: 3 }))
    const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
    expect(await mode(join(directory, 'duckdb'))).toBe(0o700)
    expect(await mode(file)).toBe(0o600)
    await store.close()
    expect(await readdir(join(directory, 'duckdb'))).toEqual(['logs.duckdb'])
  })

  it('are not created if the chain id is unknown', async ({ directory, opened }) => {
    expect(await kindOf(opened(null))).toBe('empty')
    expect(await readdir(directory)).toEqual([])
    await (await opened()).close()
    const store = await opened(null)
    expect(store.chainId).toBe(143)
    await store.close()
  })

  it('can be opened by one process only', async ({ directory, opened }) => {
    const writer = await startWriter(directory)
    const refusal = await opened().catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      kind: 'unavailable',
      summary: 'could not open the store: another process has opened it',
    })
    await writer.kill()
    await (await opened()).close()
  })

  it('reject operations after a close', async ({ opened }) => {
    const store = await opened()
    await store.append(randomChain({ seed: 1, from: 0, blocks: 3 }))
    const reading = kindOf(store.read(WHOLE, never()))
    await store.close()
    await store.close()
    expect(await reading).toMatch(/^(?:no error|aborted|unavailable)$/)
    expect(await kindOf(store.range())).toBe('unavailable')
    expect(await kindOf(store.append(randomChain({ seed: 1, from: 0, blocks: 3 })))).toBe('unavailable')
    expect(await kindOf(store.prune(2))).toBe('unavailable')
  })

  it('report damage, and never return other logs', async ({ opened, file }) => {
    const chain = randomChain({ seed: 9, from: 0, blocks: 60, logs: 40 })
    const store = await opened()
    await store.append(chain)
    const right = await walked(store, WHOLE)
    await store.close()
    const { size } = await stat(file)
    const seen = new Set<string>()
    for (let at = 0; at < size; at += size / 24) {
      const restore = await spoil(file, Math.floor(at))
      seen.add(await look(opened, right))
      await restore()
    }
    // Some of the file is not in use: a change there changes nothing.
    expect([...seen].toSorted()).toEqual(['broken', 'right'])
    expect(await look(opened, right)).toBe('right')
  })

  it.for([0, 6000, 20_000])('tell of being cut off after %i bytes', async (size, { opened, file }) => {
    await (await opened()).close()
    await truncate(file, size)
    expect(await kindOf(opened())).toBe('broken')
  })

  it('are created atomically', async ({ directory, opened }) => {
    const folder = join(directory, 'duckdb')
    await mkdir(folder)
    // As it would be left behind.
    for (const name of ['logs.duckdb.new', 'logs.duckdb.new.wal', 'logs.duckdb.wal'])
      await writeFile(join(folder, name), 'half of it')
    const store = await opened()
    expect(await store.range()).toBeNull()
    await store.close()
    expect(await readdir(folder)).toEqual(['logs.duckdb'])
  })

  it('free the space of pruned blocks', async ({ opened, file }) => {
    // The engine gives back whole groups of 122,880 rows.
    const chain = manyLogs(4)
    const store = await opened()
    await store.append(chain.slice(0, 2))
    const { bytes: two } = await store.size()
    // Its result is not read to the end.
    await store.read({ ...WHOLE, maxLogs: 1 }, never())
    await store.prune(1)
    const { bytes: one } = await store.size()
    expect(one).toBeLessThan(0.6 * two)
    for (const next of [2, 3]) {
      await store.append(chain.slice(next, next + 1))
      await store.prune(next)
    }
    await store.close()
    // What is free has been used again.
    expect((await stat(file)).size).toBeLessThan(1.2 * two)
  })

  it('free it while others read', async ({ opened }) => {
    const store = await opened()
    await store.append(manyLogs(2))
    const { bytes: two } = await store.size()
    let pruning = true
    // One begins before another ends.
    const reading = [1, 2, 3].map(async () => {
      while (pruning) await store.read({ ...WHOLE, from: 1, fields: ['log_index'] }, never())
    })
    await store.prune(1)
    pruning = false
    await Promise.all(reading)
    expect((await store.size()).bytes).toBeLessThan(0.6 * two)
    await store.close()
  })
})

const manyLogs = (blocks: number): readonly Block[] => {
  const dice = diceOf(5)
  return Array.from({ length: blocks }, (_, number) => ({
    number,
    hash: word(number + 1),
    parentHash: word(number),
    timestamp: number,
    logCount: 122_880,
    logs: Array.from({ length: 122_880 }, (_each, logIndex) => ({
      logIndex,
      transactionIndex: 0,
      transactionHash: word(0),
      address: contract(0),
      topics: [],
      data: hexOf(dice, 32),
    })),
  }))
}

const spoil = async (path: string, at: number): Promise<() => Promise<void>> => {
  const handle = await open(path, 'r+')
  const before = Buffer.alloc(64)
  await handle.read(before, 0, before.length, at)
  await handle.write(
    before.map((byte) => byte ^ 0x55),
    0,
    before.length,
    at,
  )
  await handle.close()
  return async () => {
    const again = await open(path, 'r+')
    await again.write(before, 0, before.length, at)
    await again.close()
  }
}

/** What comes of reading all: the kind of the error, or that it was right. */
const look = async (opened: () => Promise<LogStore>, right: Awaited<ReturnType<typeof walked>>): Promise<string> => {
  const kind = async (asked: Promise<unknown>): Promise<string | undefined> => {
    const said = await kindOf(asked)
    return said === 'no error' ? undefined : said
  }
  const opening = opened()
  const refused = await kind(opening)
  if (refused !== undefined) return refused
  const store = await opening
  try {
    const reading = walked(store, WHOLE)
    const failed = await kind(reading)
    if (failed !== undefined) return failed
    expect(await reading).toEqual(right)
    return 'right'
  } finally {
    await store.close()
  }
}
