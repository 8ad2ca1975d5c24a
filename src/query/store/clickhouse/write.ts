import { StoreError } from '../errors.ts'
import type { Block } from '../store.ts'
import type { Segment } from './conditions.ts'
import { readLargest, type StoreContents } from './contents.ts'
import { LEDGER_COLUMNS, ledgerRows, LOG_COLUMNS, logRows } from './encode-rows.ts'
import { LEDGER, LOCAL_LOGS, logsTable, STATE } from './schema.ts'
import type { Servers } from './servers.ts'

/**
 * An epoch identifies one writer between two failures; logs that it wrote but did not enter into the ledger are
 * ignored. The random step makes sure that two concurrent writers get different epochs.
 */
export const claimEpoch = async (servers: Servers): Promise<number> => {
  const epoch = (await readLargest(servers, 'epoch')) + 1 + Math.floor(Math.random() * 1_000_000)
  await servers.insertEverywhere(`INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`, `epoch\t${epoch}\t\n`)
  return epoch
}

/**
 * Inserts the logs on all servers, then their blocks into the ledger with one insert. Logs without a ledger entry are
 * never visible.
 */
export const writeBlocks = async (servers: Servers, blocks: readonly Block[], epoch: number): Promise<void> => {
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

/** The contents after adding these blocks. */
export const contentsWith = (contents: StoreContents | null, blocks: readonly Block[], added: Added): StoreContents => {
  const { epoch, density } = added
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

interface Added {
  readonly epoch: number
  readonly density: StoreContents['density']
}

/** Blocks before the floor are no longer visible to reads. */
export const raiseFloor = async (servers: Servers, floor: number): Promise<void> =>
  servers.insertEverywhere(`INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`, `floor\t${floor}\t\n`)

/** Drops the partitions that are completely before the floor; the rest is dropped with a later floor. */
export const dropBelow = async (
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
