// Needs Node 22.
import Database from 'better-sqlite3'

const bytes = (hex) => (hex === undefined ? null : Buffer.from(hex.slice(2), 'hex'))
const hex = (value) => `0x${value.toString('hex')}`

export const open = (folder, fresh) => {
  const database = new Database(`${folder}/logs.sqlite`)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  if (fresh)
    database.exec(`
      CREATE TABLE logs (block INTEGER, log_index INTEGER, transaction_index INTEGER, transaction_hash BLOB, address BLOB,
        topic0 BLOB, topic1 BLOB, topic2 BLOB, topic3 BLOB, data BLOB);
      CREATE INDEX by_contract ON logs (address, topic0, block, log_index);`)
  const insert = fresh && database.prepare('INSERT INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const select = database
    .prepare(
      `SELECT block, log_index, topic0, topic1, topic2, data FROM logs
        WHERE address = ? AND topic0 = ? AND block BETWEEN ? AND ? ORDER BY block, log_index`,
    )
    .raw()
  const append = database.transaction((blocks) => {
    for (const { number, logs } of blocks)
      for (const { logIndex, transactionIndex, transactionHash, address, topics, data } of logs)
        insert.run(
          number,
          logIndex,
          transactionIndex,
          bytes(transactionHash),
          bytes(address),
          ...[0, 1, 2, 3].map((position) => bytes(topics[position])),
          bytes(data),
        )
  })
  return {
    append,
    ask: ({ from, to, address, topic }) => {
      const rows = select
        .all(bytes(address), bytes(topic), from, to)
        .map(([block, index, ...values]) => [block, index, ...values.map(hex)])
      return { rows: () => rows }
    },
    close: () => database.close(),
  }
}
