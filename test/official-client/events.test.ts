import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Block } from '../../query/store/store.ts'
import { contract, word } from '../support/store-cases.ts'
import { blockAt, CHAIN, expectedLogs, FIRST, LAST, LOG_FIELDS, queryOf } from './chain.ts'
import { ALL, describeClients, startClient } from './clients.ts'
import { startApi } from './service.ts'

const EVENTS = z.object({
  data: z.array(
    z.object({
      log: z.looseObject({ blockNumber: z.int(), transactionHash: z.string() }),
      block: z.record(z.string(), z.unknown()).optional(),
      transaction: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
})

const eventsOf = (pages: readonly unknown[]) => pages.flatMap((page) => EVENTS.parse(page).data)

const TO = FIRST + 100

describeClients.each(ALL)('events for client %s', (version) => {
  it('each event has its block', async () => {
    const api = await startApi({ limits: { pageLogs: 100 } })
    const client = startClient(version, api)
    const fieldSelection = { log: LOG_FIELDS, block: ['Number', 'Timestamp', 'Hash', 'ParentHash'] }
    const query = queryOf({ toBlock: TO, fieldSelection })
    const expected = expectedLogs({ to: TO }).map((log) => {
      const { number, timestamp, hash, parentHash } = blockAt(log.blockNumber)
      return { log, block: { number, timestamp, hash, parentHash } }
    })
    expect(eventsOf([await client.call('collectEvents', query, {})])).toEqual(expected)
    expect(eventsOf(await client.all('streamEvents', query))).toEqual(expected)
    const first = eventsOf([await client.call('getEvents', query)])
    expect(first.length).toBeGreaterThanOrEqual(100)
    expect(first).toEqual(expected.slice(0, first.length))
  })

  it('each event has its transaction, as far as logs have its fields', async () => {
    const client = startClient(version, await startApi())
    const transaction = ['Hash', 'BlockHash', 'BlockNumber', 'TransactionIndex']
    const query = queryOf({ toBlock: TO, fieldSelection: { log: LOG_FIELDS, transaction } })
    expect(eventsOf([await client.call('getEvents', query)])).toEqual(
      expectedLogs({ to: TO }).map((log) => ({
        log,
        transaction: {
          hash: log.transactionHash,
          blockHash: log.blockHash,
          blockNumber: log.blockNumber,
          transactionIndex: log.transactionIndex,
        },
      })),
    )
  })
})

/** An event `Transfer(address indexed, address indexed, uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TOKEN = contract(77)
/** The same chain with a transfer in some of its last blocks. */
const WITH_TRANSFERS: readonly Block[] = CHAIN.map((block) =>
  block.number < LAST - 50 || block.number % 7 !== 0
    ? block
    : {
        ...block,
        logs: block.logs.map((log) => ({
          ...log,
          address: TOKEN,
          data: word(block.number),
          topics: [TRANSFER, word(1), word(2)],
        })),
      },
)

const openDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'official-client-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

/** The rows of a Parquet file; a value of bytes that is no text as hex. */
const readParquet = async (file: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)
  const rows = reader.getRowObjectsJson()
  connection.closeSync()
  instance.closeSync()
  return rows
}

describeClients.each(ALL)('Parquet files of client %s', (version) => {
  it('have all rows and columns if only the last pages have a match', async () => {
    const api = await startApi({ blocks: WITH_TRANSFERS, limits: { pageLogs: 60 } })
    const directory = await openDirectory()
    const fieldSelection = { log: LOG_FIELDS, block: ['Number', 'Timestamp'] }
    const query = queryOf({ logs: [{ address: [TOKEN] }], fieldSelection })
    const config = {
      hexOutput: 'Prefixed',
      eventSignature: 'Transfer(address indexed from, address indexed to, uint256 amount)',
    }
    await startClient(version, api).call('collectParquet', directory, query, config)
    const expected = expectedLogs({ blocks: WITH_TRANSFERS, filters: [{ addresses: [TOKEN], topics: [] }] })
    expect(expected.length).toBeGreaterThan(20)
    const rows = await readParquet(join(directory, 'logs.parquet'))
    expect(rows.map((row) => Object.keys(row).length)).toEqual(rows.map(() => LOG_FIELDS.length))
    expect(
      rows.map(({ removed, block_number: block, log_index: index, data, topic0, topic3, transaction_hash: hash }) => [
        removed,
        Number(block),
        Number(index),
        data,
        topic0,
        topic3,
        hash,
      ]),
    ).toEqual(
      expected.map(({ removed, blockNumber, logIndex, data, topics, transactionHash }) => [
        removed,
        blockNumber,
        logIndex,
        data,
        topics[0],
        topics[3],
        transactionHash,
      ]),
    )
    const decoded = await readParquet(join(directory, 'decoded_logs.parquet'))
    expect(decoded.map(({ from, to, amount }) => [from, to, BigInt(String(amount))])).toEqual(
      expected.map(({ blockNumber }) => [contract(1), contract(2), BigInt(blockNumber)]),
    )
    const blocks = await readParquet(join(directory, 'blocks.parquet'))
    expect(blocks.map(({ number }) => Number(number))).toEqual([
      ...new Set(expected.map(({ blockNumber }) => blockNumber)),
    ])
  })
})
