import { rm } from 'node:fs/promises'
import { must } from '../../test/support/programs.ts'
import { type Comparison, inTurn, installPeers, packageName, serve, take } from '../comparison.ts'

interface Reader {
  /** The name in readers.mjs. */
  readonly reader: string
  readonly name: string
}

export const pages: Comparison = {
  name: 'pages',
  title: 'Pages of the query service: JSON and binary',
  fairness: `One process has the API of \`serve-query\` over a DuckDB store. Each reader requests the same pages one after another, of 200 blocks with 100 logs each, with eight
columns (\`block_number\`, \`log_index\`, \`transaction_hash\`, \`address\`, \`data\`, \`topic0\` to \`topic2\`), without compression; the stream of the official client chooses its
own ranges, ten requests at a time. The service has no limit of bytes a page here, because 20,000 logs as JSON exceed it. All readers must have the same number
of logs, and those that decode pages the same values. One page is not counted. CPU time is of all threads.`,
  open: async (setup) => {
    const { folder, defer } = setup
    const logs = setup.logs / 2
    const store = `${folder}/pages`
    const missing = await installPeers()
    defer(async () => rm(store, { recursive: true, force: true }))
    await must(process.execPath, [`${import.meta.dirname}/fill.mjs`, store, `${logs}`], { timeout: 3_600_000 })
    const url = await serve(['pages/server.mjs', store], setup)
    const readers: Reader[] = [
      { reader: 'json', name: 'JSON: fetch, JSON.parse' },
      { reader: 'binary', name: 'chain-agent, binary: fetch alone' },
    ]
    if (missing === undefined) {
      const client = await packageName('@envio-dev/hypersync-client')
      readers.push({ reader: 'get', name: `chain-agent, binary: get of ${client}` })
      readers.push({ reader: 'stream', name: `chain-agent, binary: stream of ${client}` })
    }
    return {
      programs: readers.map(({ name }) => name),
      skipped: missing === undefined ? [] : [{ name: '@envio-dev/hypersync-client', reason: missing }],
      round: async () => inTurn(readers, async ({ reader }) => take(['pages/worker.mjs', reader, url, `${logs}`])),
    }
  },
}
