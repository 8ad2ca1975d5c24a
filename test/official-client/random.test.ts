import { expect, it } from 'vitest'
import { z } from 'zod'
import { LOG_FIELDS } from '../../query/log-fields.ts'
import { askRaw } from '../query/api/fixtures.ts'
import { randomFilter, diceOf } from '../support/store-cases.ts'
import { expectedLogs, FIRST, type Log, logsOf, queryOf } from './chain.ts'
import { describeClients, RECENT, startClient } from './clients.ts'
import { startApi } from './service.ts'

const QUERIES = 150

const topic = z.string().nullable()
const JSON_PAGE = z.object({
  next_block: z.int(),
  data: z.array(
    z.object({
      logs: z.array(
        z.object({
          removed: z.boolean(),
          log_index: z.int(),
          transaction_index: z.int(),
          transaction_hash: z.string(),
          block_hash: z.string(),
          block_number: z.int(),
          address: z.string(),
          data: z.string(),
          topic0: topic,
          topic1: topic,
          topic2: topic,
          topic3: topic,
        }),
      ),
    }),
  ),
})

/** The same logs as JSON. */
const jsonLogs = async (
  api: { readonly port: number },
  { from, to, logs }: { readonly from: number; readonly to: number; readonly logs: unknown },
): Promise<readonly Log[]> => {
  const found: Log[] = []
  for (let next = from; next < to;) {
    const body = JSON.stringify({ from_block: next, to_block: to, logs, field_selection: { log: LOG_FIELDS } })
    const page = JSON_PAGE.parse(JSON.parse((await askRaw(api, { body })).text))
    for (const log of page.data.flatMap((batch) => batch.logs)) {
      found.push({
        removed: log.removed,
        logIndex: log.log_index,
        transactionIndex: log.transaction_index,
        transactionHash: log.transaction_hash,
        blockHash: log.block_hash,
        blockNumber: log.block_number,
        address: log.address,
        data: log.data,
        topics: [log.topic0, log.topic1, log.topic2, log.topic3],
      })
    }
    next = page.next_block
  }
  return found
}

describeClients.each(RECENT)('random queries of client %s', (version) => {
  it(`${QUERIES} of them return what the naive filter does, and JSON`, async () => {
    const dice = diceOf(version === '1.4.1' ? 1 : 2)
    const api = await startApi({ dialect: 'hosted', limits: { pageLogs: 300 } })
    const client = startClient(version, api)
    let found = 0
    for (let query = 0; query < QUERIES; query += 1) {
      const from = FIRST + dice(600)
      const to = from + dice(80)
      const filters = Array.from({ length: 1 + dice(3) }, () => randomFilter(dice))
      const logs = filters.map(({ addresses, topics }) => ({ address: addresses, topics }))
      const end = Math.min(to, FIRST + 600)
      const pages = await client.all('pages', queryOf({ fromBlock: from, toBlock: end, logs }))
      const expected = expectedLogs({ from, to, filters })
      expect(logsOf(pages), JSON.stringify({ from, to, logs })).toEqual(expected)
      expect(await jsonLogs(api, { from, to: end, logs })).toEqual(expected)
      found += expected.length
    }
    expect(found).toBeGreaterThan(QUERIES * 20)
  })
})
