import type { DuckDBConnection } from '@duckdb/node-api'

type Value = string | number | null

/** A small answer: bytes as hex, whole numbers as numbers, what is neither as null. */
export const rowsOf = async (
  connection: DuckDBConnection,
  sql: string,
): Promise<readonly (readonly Value[])[]> => {
  const result = await connection.run(sql)
  return (await result.getRows()).map((row) => row.map(plain))
}

const plain = (value: unknown): Value => {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number' || typeof value === 'string') return value
  return hasBytes(value) ? `0x${Buffer.from(value.bytes).toString('hex')}` : null
}

const hasBytes = (value: unknown): value is { readonly bytes: Uint8Array } =>
  typeof value === 'object' &&
  value !== null &&
  'bytes' in value &&
  value.bytes instanceof Uint8Array
