// Calls an official client, which is native code: it logs, and an error in it can end its process. The arguments are the
// folder of the client and its configuration. One call per line of stdin, as JSON; one line per result on stdout.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [folder, settings] = process.argv.slice(2)
const { HypersyncClient } = createRequire(import.meta.url)(folder)
const config = JSON.parse(settings)
const client = HypersyncClient.new
  ? HypersyncClient.new({ ...config, bearerToken: config.apiToken })
  : new HypersyncClient(config)

const print = (line) =>
  process.stdout.write(`${JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}\n`)

/** Prints what a stream brings, up to its end or the number of items, after which it closes it. */
const readAll = async (id, stream, count) => {
  for (let read = 0; read < (count ?? Infinity); read += 1) {
    const item = await stream.recv()
    if (item === null) return
    print({ id, item })
  }
  await stream.close()
}

/** What the calls of this driver do that are no methods of the client. */
const CALLS = {
  /** The pages of a query, as a user reads them without a stream. */
  async pages(id, query) {
    for (let from = query.fromBlock; from < query.toBlock;) {
      const item = await client.get({ ...query, fromBlock: from })
      print({ id, item })
      if (item.nextBlock <= from) throw new Error(`the page ends at its first block ${from}`)
      from = item.nextBlock
    }
  },
  stream: async (id, query, stream = {}) => readAll(id, await client.stream(query, stream)),
  streamEvents: async (id, query, stream = {}) => readAll(id, await client.streamEvents(query, stream)),
  streamHeight: async (id, count) => readAll(id, await client.streamHeight(), count),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, args } = JSON.parse(line)
  const call = CALLS[method] ? CALLS[method](id, ...args) : client[method](...args)
  call.then(
    (value) => print({ id, value: value ?? null }),
    (error) => print({ id, error: error.message }),
  )
}
