// The readers that are compared. Each reads pages of logs between two blocks, and calls `onPage` with the rows of each, or
// with none if it does not decode them; it returns the number of bytes, if it knows it.

const LOG_FIELDS = ['block_number', 'log_index', 'transaction_hash', 'address', 'data', 'topic0', 'topic1', 'topic2']

/** The ranges of blocks of the pages. */
function* ranges(first, end, blocks) {
  for (let from = first; from < end; from += blocks) yield [from, Math.min(from + blocks, end)]
}

const fetchPages = async (url, { first, end, blocks }, onBody) => {
  let bytes = 0
  for (const [from, to] of ranges(first, end, blocks)) {
    const query = { from_block: from, to_block: to, logs: [{}], field_selection: { log: LOG_FIELDS } }
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(query) })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    const body = Buffer.from(await response.arrayBuffer())
    bytes += body.length
    onBody(body, to)
  }
  return bytes
}

const officialClient = async (url) => {
  const { HypersyncClient } = await import('@envio-dev/hypersync-client')
  return new HypersyncClient({ url, apiToken: 'any', maxNumRetries: 0 })
}

const officialQuery = (fromBlock, toBlock) => ({
  fromBlock,
  toBlock,
  logs: [{}],
  fieldSelection: {
    log: ['BlockNumber', 'LogIndex', 'TransactionHash', 'Address', 'Data', 'Topic0', 'Topic1', 'Topic2'],
  },
})

/** [block, index, transaction, address, data, topic0, topic1, topic2] */
const valuesOf = ({ blockNumber, logIndex, transactionHash, address, data, topics: [topic0, topic1, topic2] }) => [
  blockNumber,
  logIndex,
  transactionHash,
  address,
  data,
  topic0,
  topic1,
  topic2,
]

const jsonValuesOf = (log) => LOG_FIELDS.map((field) => log[field])

export const readers = {
  json: (url) => (part, onPage) =>
    fetchPages(`${url}/query`, part, (body, to) => {
      const { data, next_block: next } = JSON.parse(body.toString())
      if (next !== to) throw new Error(`the page ends at ${next}, not at ${to}`)
      onPage(
        data.flatMap(({ logs }) => logs),
        jsonValuesOf,
      )
    }),

  binary: (url) => (part, onPage) => fetchPages(`${url}/query/arrow-ipc`, part, () => onPage(null)),

  get: async (url) => {
    const client = await officialClient(url)
    return async ({ first, end, blocks }, onPage) => {
      for (const [from, to] of ranges(first, end, blocks)) {
        const { data, nextBlock } = await client.get(officialQuery(from, to))
        if (nextBlock !== to) throw new Error(`the page ends at ${nextBlock}, not at ${to}`)
        onPage(data.logs, valuesOf)
      }
    }
  },

  stream: async (url) => {
    const client = await officialClient(url)
    return async ({ first, end }, onPage) => {
      const stream = await client.stream(officialQuery(first, end), {})
      for (let page = await stream.recv(); page !== null; page = await stream.recv()) onPage(page.data.logs, valuesOf)
    }
  },
}
