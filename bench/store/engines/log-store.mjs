import { systemClock } from '../../../.cache/modules/core/clock.js'
import { openDuckDbStore } from '../../../.cache/modules/query/store/duckdb/store.js'

const SCOPE = { addresses: [], topics: [] }
const FIELDS = ['block_number', 'log_index', 'topic0', 'topic1', 'topic2', 'data']
const NEVER = new AbortController().signal

export const open = async (folder) => {
  const store = await openDuckDbStore(`${folder}/duckdb`, {
    identity: { chainId: 1, scope: SCOPE },
    clock: systemClock,
  })
  return {
    append: (blocks) => store.append(blocks),
    close: () => store.close(),
    /** All pages, to the end, of the size that the service gives them. */
    ask: async ({ from, to, address, topic }) => {
      const pages = []
      for (let next = from; next <= to; next = pages.at(-1).next)
        pages.push(
          await store.read(
            {
              from: next,
              to,
              filters: [{ addresses: [address], topics: [[topic]] }],
              fields: FIELDS,
              maxLogs: 20_000,
              maxBytes: 4 * 2 ** 20,
              maxMs: 5000,
            },
            NEVER,
          ),
        )
      return {
        rows: () =>
          pages.flatMap(({ blocks, columns }) =>
            blocks.map((_, row) => FIELDS.map((field) => columns.get(field)[row])),
          ),
      }
    },
  }
}
