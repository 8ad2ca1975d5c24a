import { expectContinuation } from '../checks.ts'
import { StoreError } from '../errors.ts'
import type { Block, LogStore, StoreRange } from '../store.ts'
import { loadContents, type StoreContents, verifyNewest } from './contents.ts'
import { createDensity } from './density.ts'
import { type ClickHouseOptions, openServers } from './open.ts'
import { headsOf, readLogs } from './read.ts'
import { LEDGER, LOCAL_LOGS, STATE } from './schema.ts'
import type { Servers } from './servers.ts'
import { claimEpoch, contentsWith, dropBelow, raiseFloor, writeBlocks } from './write.ts'

/**
 * Opens or creates a store on one or more ClickHouse servers. docs/query-service.md describes the URL, which must not
 * contain the password. Throws a StoreError.
 */
export const openClickHouseStore = async (url: string, options: ClickHouseOptions): Promise<LogStore> => {
  const { servers, settings } = await openServers(url, options)
  let contents = await loadContents(servers)
  if (contents !== null) await verifyNewest(servers, contents)
  /** The epoch of this writer; null: the next write must claim one and read the contents. */
  let epoch: number | null = null
  /** False after a failed insert, whose outcome is unknown. */
  let isCertain = true
  let last: Promise<unknown> = Promise.resolve()

  /** Runs one change after another. */
  const inTurn = async <T>(step: () => Promise<T>): Promise<T> => {
    const turn = last.then(step)
    last = turn.catch(() => undefined)
    return turn
  }
  const currentContents = async (): Promise<StoreContents | null> => {
    if (!isCertain) contents = await loadContents(servers)
    isCertain = true
    return contents
  }
  const add = async (blocks: readonly Block[]): Promise<void> => {
    const before = await currentContents()
    expectContinuation(rangeOf(before), blocks)
    if (blocks.length === 0) return
    try {
      epoch ??= await claimEpoch(servers)
      await writeBlocks(servers, blocks, epoch)
      const density = before?.density ?? createDensity(new Map())
      contents = contentsWith(before, blocks, { epoch, density })
    } catch (error) {
      epoch = null
      isCertain = false
      throw error
    }
  }
  const prune = async (firstKept: number): Promise<void> => {
    const before = await currentContents()
    if (before === null) return
    const floor = Math.min(firstKept, before.last)
    if (floor <= before.first) return
    isCertain = false
    await raiseFloor(servers, floor)
    await currentContents()
    await dropBelow(servers, { floor, partition: settings.partition })
  }

  return {
    chainId: settings.chainId,
    range: async () => rangeOf(isCertain ? contents : await inTurn(currentContents)),
    append: async (blocks) => inTurn(async () => add(blocks)),
    read: async (selection, signal) => {
      if (contents === null)
        throw new StoreError('empty', {
          doing: 'read logs',
          happened: 'the store has no blocks yet',
        })
      return readLogs({ servers, clock: options.clock, contents, signal }, selection)
    },
    heads: async (numbers) => (contents === null ? [] : headsOf({ servers, contents }, numbers)),
    prune: async (firstKept) => inTurn(async () => prune(firstKept)),
    size: async () => ({
      bytes: await bytesOnDisk(servers),
      logs: contents?.logs ?? 0,
      blocks: contents === null ? 0 : contents.last - contents.first + 1,
    }),
    close: async () => {
      await last
    },
  }
}

const rangeOf = (contents: StoreContents | null): StoreRange | null =>
  contents === null ? null : { first: contents.first, last: contents.last, lastHash: contents.lastHash }

/** Bytes on disk of all servers, including replicas. */
const bytesOnDisk = async (servers: Servers): Promise<number> => {
  const { hosts, database } = servers.location
  const tables = [LOCAL_LOGS, LEDGER, STATE].map((name) => `'${name}'`).join(', ')
  const sums = await Promise.all(
    hosts.map(async (host) =>
      servers.query(
        `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${database}' AND table IN (${tables})`,
        host,
      ),
    ),
  )
  return sums.reduce((sum, [row]) => sum + Number(row?.[0]), 0)
}
