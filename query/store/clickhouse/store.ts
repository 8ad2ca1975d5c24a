import pLimit from 'p-limit'
import { expectContinuation, expectStored, rangeOf } from '../checks.ts'
import { emptyStore, StoreError } from '../errors.ts'
import type { Block, LogStore } from '../store.ts'
import {
  createDensity,
  loadContents,
  readLargest,
  replacementRow,
  type Segment,
  type StoreContents,
  verifyNewest,
} from './contents.ts'
import { type ClickHouseOptions, LEDGER, LOCAL_LOGS, logsTable, openServers, STATE, writeState } from './open.ts'
import { headsOf, readLogs } from './read.ts'
import { LEDGER_COLUMNS, ledgerRows, LOG_COLUMNS, logRows } from './row-binary.ts'
import type { Servers } from './servers.ts'

/**
 * Opens or creates a store on one or more ClickHouse servers. docs/reference/query-service.md describes the URL, which must not
 * contain the password. Throws a StoreError.
 */
export const openClickHouseStore = async (url: string, options: ClickHouseOptions): Promise<LogStore> => {
  const { servers, settings } = await openServers(url, options)
  let contents = await loadContents(servers)
  if (contents !== null) await verifyNewest(servers, contents)
  /** The epoch of this writer; null: the next write must claim one and read the contents. */
  let epoch: number | null = null
  /** Blocks that this writer has replaced, in one epoch of their own; null if the next ones need another. */
  let replaced: Segment | null = null
  /** False after a failed insert, whose outcome is unknown. */
  let isCertain = true
  const oneAtATime = pLimit(1)
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
      replaced = null
      epoch ??= await claimEpoch(servers)
      await writeBlocks(servers, blocks, epoch)
      contents = contentsWith(before, blocks, epoch)
    } catch (error) {
      epoch = null
      isCertain = false
      throw error
    }
  }
  const replace = async (blocks: readonly Block[]): Promise<void> => {
    const [first, end] = [blocks[0]?.number, blocks.at(-1)?.number]
    if (first === undefined || end === undefined) return
    const before = await currentContents()
    const numbers = blocks.map(({ number }) => number)
    expectStored(before === null ? [] : await headsOf({ servers, contents: before }, numbers), blocks)
    // Consecutive ranges share an epoch, so that the number of segments stays small.
    const continued = replaced !== null && replaced.last + 1 === first ? replaced : null
    // An append of this writer needs another epoch after that.
    epoch = null
    replaced = null
    isCertain = false
    const next = { epoch: continued?.epoch ?? (await claimEpoch(servers)), first: continued?.first ?? first }
    if (continued === null) await writeState(servers, replacementRow({ ...next, last: null }))
    await writeBlocks(servers, blocks, next.epoch)
    await writeState(servers, replacementRow({ ...next, last: end }))
    await currentContents()
    replaced = { ...next, last: end }
  }
  const prune = async (firstKept: number): Promise<void> => {
    const before = await currentContents()
    if (before === null) return
    const floor = Math.min(firstKept, before.last)
    if (floor <= before.first) return
    isCertain = false
    // Blocks before the floor are no longer visible to reads.
    await writeState(servers, `floor\t${floor}\t`)
    await currentContents()
    await dropBelow(servers, { floor, partition: settings.partition })
  }

  return {
    chainId: settings.chainId,
    range: async () => rangeOf(isCertain ? contents : await oneAtATime(currentContents)),
    append: async (blocks) => oneAtATime(async () => add(blocks)),
    replace: async (blocks) => oneAtATime(async () => replace(blocks)),
    read: async (selection, signal) => {
      if (contents === null) throw emptyStore()
      return readLogs({ servers, clock: options.clock, contents, signal }, selection)
    },
    heads: async (numbers) => (contents === null ? [] : headsOf({ servers, contents }, numbers)),
    prune: async (firstKept) => oneAtATime(async () => prune(firstKept)),
    size: async () => ({
      bytes: await bytesOnDisk(servers),
      logs: contents?.logs ?? 0,
      blocks: contents === null ? 0 : contents.last - contents.first + 1,
    }),
    close: async () => {
      await oneAtATime(() => undefined)
    },
  }
}

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

/**
 * An epoch identifies one writer between two failures; logs that it wrote but did not enter into the ledger are
 * ignored. The random step makes sure that two concurrent writers get different epochs.
 */
const claimEpoch = async (servers: Servers): Promise<number> => {
  const epoch = (await readLargest(servers, 'epoch')) + 1 + Math.floor(Math.random() * 1_000_000)
  await writeState(servers, `epoch\t${epoch}\t`)
  return epoch
}

/**
 * Inserts the logs on all servers, then their blocks into the ledger with one insert. Logs without a ledger entry are
 * never visible.
 */
const writeBlocks = async (servers: Servers, blocks: readonly Block[], epoch: number): Promise<void> => {
  const logs = logRows(blocks, epoch)
  if (logs.length > 0) await servers.insert(`INSERT INTO ${logsTable(servers)} (${LOG_COLUMNS}) FORMAT RowBinary`, logs)
  if ((await readLargest(servers, 'epoch')) !== epoch)
    throw new StoreError('broken', {
      doing: `add blocks to the store in ClickHouse at ${servers.location.hosts[0]}`,
      happened: 'another process writes to it',
      advice: 'use a separate database for each service',
    })
  await servers.insertEverywhere(
    `INSERT INTO ${LEDGER} (${LEDGER_COLUMNS}) FORMAT RowBinary`,
    ledgerRows(blocks, epoch),
  )
}

/** The contents after adding these blocks in this epoch. */
const contentsWith = (contents: StoreContents | null, blocks: readonly Block[], epoch: number): StoreContents => {
  const density = contents?.density ?? createDensity(new Map())
  density.add(blocks)
  const [first, last] = [blocks[0]?.number ?? 0, blocks.at(-1)?.number ?? 0]
  const segments = contents?.segments ?? []
  const newest = segments.at(-1)
  return {
    first: contents?.first ?? first,
    last,
    lastHash: blocks.at(-1)?.hash ?? '',
    segments:
      newest?.epoch === epoch
        ? [...segments.slice(0, -1), { ...newest, last }]
        : [...segments, { epoch, first, last } satisfies Segment],
    logs: blocks.reduce((sum, { logs }) => sum + logs.length, contents?.logs ?? 0),
    density,
  }
}

/** Drops the partitions that are completely before the floor; the rest is dropped with a later floor. */
const dropBelow = async (
  servers: Servers,
  { floor, partition }: { readonly floor: number; readonly partition: number },
): Promise<void> => {
  const { hosts, database } = servers.location
  let dropped = false
  for (const host of hosts) {
    const rows = await servers.query(
      `SELECT DISTINCT partition FROM system.parts WHERE database = '${database}' AND table = '${LOCAL_LOGS}' AND active`,
      host,
    )
    const gone = rows.map(([name]) => Number(name)).filter((name) => (name + 1) * partition <= floor)
    for (const name of gone) {
      await servers.query(`ALTER TABLE ${LOCAL_LOGS} DROP PARTITION ${name}`, host)
      dropped = true
    }
  }
  if (dropped) await servers.query(`ALTER TABLE ${LEDGER} DELETE WHERE number < ${floor}`)
}
