import { expect, test } from 'vitest'
import { logRows } from '../../../query/store/clickhouse/row-binary.ts'

/** The bytes before the data: block, two indexes, address, four topics, their number, transaction hash. */
const BEFORE_DATA = 8 + 4 + 4 + 20 + 4 * 32 + 1 + 32
const hash = `0x${'11'.repeat(32)}`

// LEB128: seven bits a byte, the lowest first; the highest bit of a byte says that another one follows.
test.each([
  [0, [0x00]],
  [127, [0x7f]],
  [128, [0x80, 0x01]],
  [129, [0x81, 0x01]],
  [16_383, [0xff, 0x7f]],
  [16_384, [0x80, 0x80, 0x01]],
])('data of %i bytes has its length before it', (size, length) => {
  const log = {
    logIndex: 0,
    transactionIndex: 0,
    transactionHash: hash,
    address: `0x${'22'.repeat(20)}`,
    topics: [hash],
    data: `0x${'ab'.repeat(size)}`,
  }
  const rows = logRows([{ number: 1, hash, parentHash: hash, timestamp: 0, logCount: 1, logs: [log] }], 7)
  const data = rows.subarray(BEFORE_DATA, -8)
  expect([...data.subarray(0, length.length)]).toEqual(length)
  expect(data.subarray(length.length).toString('hex')).toBe('ab'.repeat(size))
  expect(rows.readBigUInt64LE(rows.length - 8)).toBe(7n)
})
