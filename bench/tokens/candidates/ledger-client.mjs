import { systemClock } from '../../../.cache/modules/core/clock.js'
import { createQueryClient } from '../../../.cache/modules/query/client/client.js'
import { topicsOf } from '../../../.cache/modules/tokens/signatures.js'
import { FIRST_BLOCK } from '../layout.mjs'
import { ledgerOf } from '../ledger.mjs'

export const begin = (options) => {
  const { url, contract, history } = options
  const { ledger, rows } = ledgerOf(options, 'fast')
  const client = createQueryClient({ url, apiKey: 'bench', clock: systemClock })
  const query = {
    addresses: [contract],
    topics: [topicsOf('erc20', null)],
    fields: ['topic0', 'topic1', 'topic2', 'data'],
    fromBlock: FIRST_BLOCK,
    toBlock: history.height,
  }
  const sink = {
    page: (page) => ledger.applyPage(page),
    reset: () => {
      throw new Error('there is no reorg in the history')
    },
  }
  const fetchAll = async () => {
    const { complete } = await client.run(query, sink, { signal: new AbortController().signal })
    if (!complete) throw new Error('the run has not completed')
  }
  return { rows, fetchAll }
}
