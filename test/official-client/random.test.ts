import { expect, it } from 'vitest'
import { randomFilter, diceOf } from '../support/store-cases.ts'
import { expectedLogs, FIRST, logsOf, queryOf } from './chain.ts'
import { describeClients, RECENT, startClient } from './clients.ts'
import { startApi } from './service.ts'

const QUERIES = 150

describeClients.each(RECENT)('random queries of client %s', (version) => {
  it(`${QUERIES} of them return what the naive filter does`, async () => {
    const dice = diceOf(version === '1.4.1' ? 1 : 2)
    const api = await startApi({ limits: { pageLogs: 300 } })
    const client = startClient(version, api)
    let found = 0
    for (let query = 0; query < QUERIES; query += 1) {
      const from = FIRST + dice(600)
      const to = from + dice(80)
      const filters = Array.from({ length: 1 + dice(3) }, () => randomFilter(dice))
      const logs = filters.map(({ addresses, topics }) => ({ address: addresses, topics }))
      const pages = await client.all('pages', queryOf({ fromBlock: from, toBlock: Math.min(to, FIRST + 600), logs }))
      const expected = expectedLogs({ from, to, filters })
      expect(logsOf(pages), JSON.stringify({ from, to, logs })).toEqual(expected)
      found += expected.length
    }
    expect(found).toBeGreaterThan(QUERIES * 20)
  })
})
