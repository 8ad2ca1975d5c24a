// The stores that are compared. Each is opened on a folder; `append` writes blocks, `ask` reads the rows of a question.

const bytes = (hex) => (hex === undefined ? null : Buffer.from(hex.slice(2), 'hex'))

export const engines = {
  'chain-agent': async (folder) => {
    const { systemClock } = await import('../../.cache/modules/src/core/clock.js')
    const { openDuckDbStore } = await import('../../.cache/modules/query/store/duckdb/store.js')
    const identity = { chainId: 1, scope: { addresses: [], topics: [] } }
    const store = await openDuckDbStore(`${folder}/duckdb`, { identity, clock: systemClock })
    const fields = ['block_number', 'log_index', 'topic0', 'topic1', 'topic2', 'data']
    const limits = { maxLogs: 20_000, maxBytes: 4 * 2 ** 20, maxMs: 5000 }
    const { signal } = new AbortController()
    return {
      append: (blocks) => store.append(blocks),
      close: () => store.close(),
      /** All pages, to the end, of the size that the service gives them. */
      ask: async ({ from, to, address, topic }) => {
        const pages = []
        const query = { filters: [{ addresses: [address], topics: [[topic]] }], fields, encoding: 'hex', ...limits }
        for (let next = from; next <= to; next = pages.at(-1).next)
          pages.push(await store.read({ ...query, from: next, to }, signal))
        return () =>
          pages.flatMap(({ blocks, columns }) => blocks.map((_, row) => fields.map((field) => columns.get(field)[row])))
      },
    }
  },

  /** One statement over the file that the store of chain-agent has written. */
  duckdb: async (folder) => {
    const { DuckDBInstance } = await import('@duckdb/node-api')
    const instance = await DuckDBInstance.create(`${folder}/duckdb/duckdb/logs.duckdb`, {
      threads: '2',
      memory_limit: '512MiB',
      access_mode: 'READ_ONLY',
    })
    const connection = await instance.connect()
    const columns = ['topic0', 'topic1', 'topic2', 'data'].map((column) => `'0x' || lower(hex(${column}))`)
    const literal = (hex) => `unhex('${hex.slice(2)}')`
    return {
      ask: async ({ from, to, address, topic }) => {
        const reader = await connection.runAndReadAll(
          `SELECT block, log_index, ${columns.join(', ')} FROM logs WHERE block BETWEEN ${from} AND ${to}
            AND address = ${literal(address)} AND topic0 = ${literal(topic)}`,
        )
        const rows = reader.getRows()
        return () => rows
      },
      close: () => {
        connection.closeSync()
        instance.closeSync()
      },
    }
  },

  'better-sqlite3': async (folder) => {
    const { default: Database } = await import('better-sqlite3')
    const database = new Database(`${folder}/logs.sqlite`)
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    database.exec(`
      CREATE TABLE IF NOT EXISTS logs (block INTEGER, log_index INTEGER, transaction_index INTEGER, transaction_hash BLOB,
        address BLOB, topic0 BLOB, topic1 BLOB, topic2 BLOB, topic3 BLOB, data BLOB);
      CREATE INDEX IF NOT EXISTS by_contract ON logs (address, topic0, block, log_index);`)
    const insert = database.prepare('INSERT INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    const select = database
      .prepare(
        `SELECT block, log_index, topic0, topic1, topic2, data FROM logs
          WHERE address = ? AND topic0 = ? AND block BETWEEN ? AND ? ORDER BY block, log_index`,
      )
      .raw()
    return {
      append: database.transaction((blocks) => {
        for (const { number, logs } of blocks)
          for (const { logIndex, transactionIndex, transactionHash, address, topics, data } of logs) {
            const blobs = [transactionHash, address, ...[0, 1, 2, 3].map((position) => topics[position]), data]
            insert.run(number, logIndex, transactionIndex, ...blobs.map(bytes))
          }
      }),
      ask: ({ from, to, address, topic }) => {
        const rows = select
          .all(bytes(address), bytes(topic), from, to)
          .map(([block, index, ...values]) => [block, index, ...values.map((value) => `0x${value.toString('hex')}`)])
        return () => rows
      },
      close: () => database.close(),
    }
  },
}
