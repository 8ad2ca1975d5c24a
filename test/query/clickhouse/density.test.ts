import { describe, expect, it } from 'vitest'
import { CHUNK, createDensity } from '../../../query/store/clickhouse/contents.ts'

const NO_END = { from: 0, to: 10 * CHUNK - 1 }

describe('the range of a read', () => {
  // 1024 logs of 100 bytes in the first chunk, ten times as many in the second, none in the third.
  const density = createDensity(
    new Map([
      [0, { logs: CHUNK, bytes: 100 * CHUNK, blocks: CHUNK }],
      [1, { logs: 10 * CHUNK, bytes: 1000 * CHUNK, blocks: CHUNK }],
    ]),
  )

  it('follows the expected number of logs', () => {
    expect(density.reach(NO_END, { logs: 100, bytes: 1e9 })).toBe(99)
    expect(density.reach(NO_END, { logs: CHUNK + 100, bytes: 1e9 })).toBe(CHUNK + 9)
    expect(density.reach({ from: CHUNK - 10, to: 1e9 }, { logs: 110, bytes: 1e9 })).toBe(CHUNK + 9)
  })

  it('follows the expected number of bytes', () => {
    expect(density.reach(NO_END, { logs: 1e9, bytes: 5000 })).toBe(49)
  })

  it('ends at the last block if there is less', () => {
    expect(density.reach(NO_END, { logs: 1e9, bytes: 1e9 })).toBe(10 * CHUNK - 1)
    expect(density.reach({ from: 5, to: 7 }, { logs: 1e9, bytes: 1e9 })).toBe(7)
    expect(density.reach({ from: 5000, to: 9000 }, { logs: 1, bytes: 1 })).toBe(9000)
  })

  it('accounts for an incomplete newest chunk', () => {
    const young = createDensity(new Map([[0, { logs: 1000, bytes: 0, blocks: 10 }]]))
    expect(young.reach({ from: 0, to: 9 }, { logs: 300, bytes: 1 })).toBe(2)
  })

  it('is at least one block', () => {
    expect(density.reach({ from: 1500, to: 2000 }, { logs: 1, bytes: 1 })).toBe(1500)
  })
})
