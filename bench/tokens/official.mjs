// The official client, which fetches binary pages; the callback receives its logs.
import { HypersyncClient } from '@envio-dev/hypersync-client'
import { BLOCKS_PER_PAGE, FIRST_BLOCK, TRANSFER } from './layout.mjs'

const FIELDS = ['BlockNumber', 'LogIndex', 'Topic0', 'Topic1', 'Topic2', 'Data']

export const officialClient = ({ url, contract, history }) => {
  const client = new HypersyncClient({ url, apiToken: '00000000-0000-4000-8000-000000000000' })
  const query = {
    fromBlock: FIRST_BLOCK,
    toBlock: history.height + 1,
    logs: [{ address: [contract], topics: [[`0x${TRANSFER}`]] }],
    fieldSelection: { log: FIELDS },
  }
  return {
    get: async (take) => {
      for (let fromBlock = FIRST_BLOCK; fromBlock <= history.height;) {
        const response = await client.get({ ...query, fromBlock })
        take(response.data.logs)
        fromBlock = response.nextBlock
      }
    },
    stream: async (take) => {
      // Ranges of one page each, because the server has prepared binary pages.
      const size = {
        batchSize: BLOCKS_PER_PAGE,
        minBatchSize: BLOCKS_PER_PAGE,
        maxBatchSize: BLOCKS_PER_PAGE,
      }
      const stream = await client.stream(query, { ...size, concurrency: 10 })
      for (let response; (response = await stream.recv());) take(response.data.logs)
    },
  }
}
