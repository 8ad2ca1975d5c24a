import { StoreError } from '../errors.ts'
import type { Block } from '../store.ts'
import { type Held, readLargest, type Segment } from './held.ts'
import { LEDGER_COLUMNS, ledgerRows, LOG_COLUMNS, logRows } from './rows.ts'
import { LEDGER, logsTable, STATE } from './schema.ts'
import type { Servers } from './servers.ts'

/**
 * An epoch is a writer between two failures: what it wrote and did not enter into the ledger is nobody's. Far enough apart that
 * two who ask at once get two.
 */
export const claimEpoch = async (servers: Servers): Promise<number> => {
  const epoch = (await readLargest(servers, 'epoch')) + 1 + Math.floor(Math.random() * 1_000_000)
  await servers.insertEverywhere(
    `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
    `epoch\t${epoch}\t\n`,
  )
  return epoch
}

/** First the logs, to all servers; then, with one insert, that they are there. What fails on the way is never seen. */
export const writeBlocks = async (
  servers: Servers,
  blocks: readonly Block[],
  epoch: number,
): Promise<void> => {
  const logs = logRows(blocks, epoch)
  if (logs.length > 0)
    await servers.insert(
      `INSERT INTO ${logsTable(servers)} (${LOG_COLUMNS}) FORMAT RowBinary`,
      logs,
    )
  if ((await readLargest(servers, 'epoch')) !== epoch)
    throw new StoreError('broken', {
      doing: `add blocks to the store in ClickHouse at ${servers.place.hosts[0]}`,
      happened: 'another process writes to it',
      advice: 'let one service alone write to a store; give each a database of its own',
    })
  await servers.insertEverywhere(
    `INSERT INTO ${LEDGER} (${LEDGER_COLUMNS}) FORMAT RowBinary`,
    ledgerRows(blocks, epoch),
  )
}

/** What is held with these blocks added. */
export const heldWith = (held: Held | null, blocks: readonly Block[], added: Added): Held => {
  const { epoch, density } = added
  density.add(blocks)
  const [first, last] = [blocks[0]?.number ?? 0, blocks.at(-1)?.number ?? 0]
  const segments = held?.segments ?? []
  const newest = segments.at(-1)
  return {
    first: held?.first ?? first,
    last,
    lastHash: blocks.at(-1)?.hash ?? '',
    segments:
      newest?.epoch === epoch
        ? [...segments.slice(0, -1), { ...newest, last }]
        : [...segments, { epoch, first, last } satisfies Segment],
    logs: blocks.reduce((sum, { logs }) => sum + logs.length, held?.logs ?? 0),
    density,
  }
}

interface Added {
  readonly epoch: number
  readonly density: Held['density']
}
