// Programs that compute the balances of a token from the service. Each loads its library, and then gives `fetchAll` and `csv`, which
// returns the balances other than 0 as CSV, in one or more texts: the largest first, equal ones by address.
import { BLOCKS_PER_PAGE, CONTRACT, FIRST_BLOCK, TRANSFER } from './layout.mjs'

const ZERO = `0x${'0'.repeat(40)}`
const EVENT = 'event Transfer(address indexed from, address indexed to, uint256 value)'

/** Balances in a Map of BigInt: what a user of a library writes. */
const balances = () => {
  const map = new Map()
  const add = (address, value) => {
    if (address !== ZERO) map.set(address, (map.get(address) ?? 0n) + value)
  }
  return {
    transfer: (from, to, value) => {
      add(from, -value)
      add(to, value)
    },
    csv: () => {
      const rows = [...map]
        .filter(([, balance]) => balance !== 0n)
        .map(([address, balance]) => [address.toLowerCase(), balance])
        .sort(([name, one], [otherName, other]) => (one < other ? 1 : one > other ? -1 : name < otherName ? -1 : 1))
      const texts = ['address,balance\n']
      // All rows of ten million holders do not fit in one string.
      for (let at = 0; at < rows.length; at += 10_000) {
        const some = rows.slice(at, at + 10_000)
        texts.push(some.map(([address, balance]) => `${address},${balance}\n`).join(''))
      }
      return texts
    },
  }
}

const addressOf = (topic) => `0x${topic.slice(-40).toLowerCase()}`

/** One request after the other with fetch and JSON.parse; `decode` turns a log into sender, recipient and value. */
const fetched =
  (decode) =>
  ({ url, height }) => {
    const { transfer, csv } = balances()
    const fetchAll = async () => {
      for (let from = FIRST_BLOCK; from <= height;) {
        const body = JSON.stringify({
          from_block: from,
          logs: [{ address: [CONTRACT], topics: [[`0x${TRANSFER}`]] }],
          field_selection: { log: ['block_number', 'log_index', 'topic0', 'topic1', 'topic2', 'data'] },
        })
        const headers = { 'content-type': 'application/json' }
        const page = await (await fetch(`${url}/query`, { method: 'POST', headers, body })).json()
        for (const { logs } of page.data) for (const log of logs) transfer(...decode(log))
        from = page.next_block
      }
    }
    return { csv, fetchAll }
  }

export const programs = {
  'chain-agent': async () => {
    const [{ systemClock }, { createQueryClient }, { createLedger }, { topicsOf }] = await Promise.all(
      ['src/core/clock', 'query/client/client', 'query/tokens/ledger', 'query/tokens/signatures'].map(
        (module) => import(`../../.cache/modules/${module}.js`),
      ),
    )
    return ({ url, height }) => {
      const ledger = createLedger({ standard: 'erc20', contract: CONTRACT, fullHistory: true, path: 'fast' })
      const client = createQueryClient({ url, apiKey: 'bench', clock: systemClock })
      const query = {
        addresses: [CONTRACT],
        topics: [topicsOf('erc20', null)],
        fields: ['topic0', 'topic1', 'topic2', 'data'],
        fromBlock: FIRST_BLOCK,
        toBlock: height,
      }
      const sink = {
        page: (page) => ledger.applyPage(page),
        reset: () => {
          throw new Error('the history has no reorganisation, but the client reported one')
        },
      }
      return {
        csv: () => [
          'address,balance\n',
          ...ledger.result().rows.text({ open: '', id: ',', balance: ',', close: '\n' }),
        ],
        fetchAll: async () => {
          const { complete } = await client.run(query, sink, { signal: new AbortController().signal })
          if (!complete) throw new Error('the client did not read the whole history')
        },
      }
    }
  },

  plain: () => fetched(({ topic1, topic2, data }) => [addressOf(topic1), addressOf(topic2), BigInt(data)]),

  viem: async () => {
    const { decodeEventLog, parseAbi } = await import('viem')
    const abi = parseAbi([EVENT])
    return fetched(({ topic0, topic1, topic2, data }) => {
      const { args } = decodeEventLog({ abi, topics: [topic0, topic1, topic2], data })
      return [args.from, args.to, args.value]
    })
  },

  ethers: async () => {
    const { Interface } = await import('ethers')
    const decoder = new Interface([EVENT])
    return fetched(({ topic0, topic1, topic2, data }) => [
      ...decoder.parseLog({ topics: [topic0, topic1, topic2], data }).args,
    ])
  },

  official: async () => {
    const { HypersyncClient } = await import('@envio-dev/hypersync-client')
    return ({ url, height }) => {
      const { transfer, csv } = balances()
      const client = new HypersyncClient({ url, apiToken: '00000000-0000-4000-8000-000000000000' })
      const query = {
        fromBlock: FIRST_BLOCK,
        toBlock: height + 1,
        logs: [{ address: [CONTRACT], topics: [[`0x${TRANSFER}`]] }],
        fieldSelection: { log: ['BlockNumber', 'LogIndex', 'Topic0', 'Topic1', 'Topic2', 'Data'] },
      }
      // Ranges of one page each, because the server has prepared binary pages.
      const batch = { batchSize: BLOCKS_PER_PAGE, minBatchSize: BLOCKS_PER_PAGE, maxBatchSize: BLOCKS_PER_PAGE }
      const fetchAll = async () => {
        const stream = await client.stream(query, { ...batch, concurrency: 10 })
        for (let response; (response = await stream.recv());) {
          for (const { topics, data } of response.data.logs)
            transfer(addressOf(topics[1]), addressOf(topics[2]), BigInt(data))
        }
      }
      return { csv, fetchAll }
    }
  },
}
