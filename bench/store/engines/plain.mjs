// The engine itself over the file that `ours` has filled: one statement for all that the pages bring, in rows of its own values.
import { DuckDBInstance } from '@duckdb/node-api'

const bytes = (hex) => `unhex('${hex.slice(2)}')`

export const openPlain = async (folder, columns, plain) => {
  const instance = await DuckDBInstance.create(`${folder}/duckdb/duckdb/logs.duckdb`, {
    threads: '2',
    memory_limit: '512MiB',
    access_mode: 'READ_ONLY',
  })
  const connection = await instance.connect()
  return {
    ask: async ({ from, to, address, topic }) => {
      const reader = await connection.runAndReadAll(
        `SELECT ${columns} FROM logs WHERE block BETWEEN ${from} AND ${to}
          AND address = ${bytes(address)} AND topic0 = ${bytes(topic)}`,
      )
      const rows = reader.getRows()
      return { rows: () => rows.map((row) => row.map(plain)) }
    },
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

export const open = (folder) =>
  openPlain(folder, 'block, log_index, topic0, topic1, topic2, data', (value) =>
    typeof value === 'object' ? `0x${Buffer.from(value.bytes).toString('hex')}` : `${value}`,
  )
