import type { DuckDBConnection } from '@duckdb/node-api'
import { StoreError } from '../errors.ts'

/** Bytes as an SQL literal. The pattern prevents SQL injection. */
export const blobLiteral = (hex: string): string => {
  if (!/^0x(?:[0-9a-f]{2})*$/.test(hex))
    throw new StoreError('unavailable', {
      doing: 'query the store',
      happened: 'a value is not lower case hex',
      evidence: hex,
    })
  return `unhex('${hex.slice(2)}')`
}

/** An integer as an SQL literal. */
export const integerLiteral = (number: number): string => {
  if (!Number.isSafeInteger(number))
    throw new StoreError('unavailable', {
      doing: 'query the store',
      happened: 'a number is not an integer or is too large',
      evidence: `${number}`,
    })
  return `${number}`
}

type Value = string | number | null

/** Reads a small result: bytes as hex, integers as numbers, other values as null. */
export const queryRows = async (connection: DuckDBConnection, sql: string): Promise<readonly (readonly Value[])[]> => {
  const result = await connection.run(sql)
  return (await result.getRows()).map((row) => row.map(plain))
}

const plain = (value: unknown): Value => {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number' || typeof value === 'string') return value
  return hasBytes(value) ? `0x${Buffer.from(value.bytes).toString('hex')}` : null
}

const hasBytes = (value: unknown): value is { readonly bytes: Uint8Array } =>
  typeof value === 'object' && value !== null && 'bytes' in value && value.bytes instanceof Uint8Array
